import type * as z from 'zod/mini'
import type { AnyObject } from './api/route.ts'
import type { ControlPlaneContext } from './context.ts'
import type { LogLine } from './logs/logs.ts'
import type { DeploymentRecord, RevisionRecord } from './records/records.ts'
import { partitionOf } from './records/stored.ts'
import { MASK } from './secrets/mask.ts'
import { type Camel, camel, notesOf } from './wire/common.ts'
import { DEPLOYMENT, REVISION } from './wire/deployment.ts'
import { SOURCE_CONFIG, SOURCE_REVISION_CONFIG_RESPONSE } from './wire/source.ts'

/** Milliseconds since 1970 in the API's format. */
export const isoTime = (at: number): string => new Date(at).toISOString()

/**
 * A record in the API's format, with only the schema's members. Numbers become times if the schema says so,
 * and missing values are null.
 */
export const present = <S extends AnyObject>(
  schema: S,
  record: { readonly [Name in keyof z.output<S> as Camel<Name>]: unknown },
): z.output<S> =>
  Object.fromEntries(
    Object.entries(schema._zod.def.shape).map(([name, member]) => {
      const value = (record as Readonly<Record<string, unknown>>)[camel(name)] ?? null
      return [
        name,
        notesOf(member).format === 'date-time' && typeof value === 'number' ? isoTime(value) : value,
      ]
    }),
  ) as z.output<S>

export const presentLine = ({ id, at, level, message, revisionId, runId }: LogLine) => ({
  id,
  timestamp: isoTime(at),
  level,
  message,
  // A server log line may belong to no revision.
  revision_id: revisionId || null,
  run_id: runId ?? null,
})

/** The old routes return times as numbers, which the command-line tools format themselves. */
export const presentProjectLine = ({ id, at, level, message }: LogLine) => ({
  id,
  timestamp: at,
  level,
  message,
})

/** A deployment in the API's format. */
export async function presentDeployment(context: ControlPlaneContext, deployment: DeploymentRecord) {
  const { tiers, sourceConfig, url } = deployment
  return present(DEPLOYMENT, {
    ...deployment,
    sourceConfig: whole(SOURCE_CONFIG, {
      ...sourceConfig,
      deployment_type: sourceConfig.deployment_type ?? 'prod',
      build_on_push: sourceConfig.build_on_push ?? false,
      // Clients expect the running server's address here.
      custom_url: sourceConfig.custom_url ?? url,
    }),
    sourceRevisionConfig: revisionConfigOf(deployment),
    secrets: await secretsOf(context, deployment),
    computeTier: tiers?.compute,
    databaseTier: tiers?.database,
    deploymentTier: tiers?.deployment,
  })
}

/** A revision in the API's format. */
export const presentRevision = (revision: RevisionRecord) =>
  present(REVISION, {
    ...revision,
    sourceRevisionConfig: revisionConfigOf(revision),
    revisionNumber: revision.number,
    statusMessage: revision.history.at(-1)?.reason,
    statusHistory: revision.history.map(({ status, at, reason }) => ({
      status,
      at: isoTime(at),
      reason: reason ?? null,
    })),
  })

const revisionConfigOf = ({ sourceRevisionConfig }: Pick<RevisionRecord, 'sourceRevisionConfig'>) =>
  whole(SOURCE_REVISION_CONFIG_RESPONSE, sourceRevisionConfig)

/** A part that is stored with its wire names. Missing fields are null. */
const whole = (schema: AnyObject, part: object) =>
  Object.fromEntries(
    Object.keys(schema._zod.def.shape).map((name) => [name, part[name as keyof typeof part] ?? null]),
  )

async function secretsOf({ secrets, showSecrets }: ControlPlaneContext, deployment: DeploymentRecord) {
  if (showSecrets === 'none') return []
  if (showSecrets === 'plaintext') return secrets.open(partitionOf(deployment.id), deployment.secrets)
  return deployment.secrets.map(({ name }) => ({ name, value: MASK }))
}
