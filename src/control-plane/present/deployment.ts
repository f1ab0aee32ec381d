import type { AnyObject } from '../api/route.ts'
import type { ControlPlaneContext } from '../context.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'
import { partitionOf } from '../records/stored.ts'
import { MASK } from '../secrets/mask.ts'
import { DEPLOYMENT } from '../wire/deployment.ts'
import { REVISION } from '../wire/revision.ts'
import { SOURCE_CONFIG, SOURCE_REVISION_CONFIG_RESPONSE } from '../wire/source.ts'
import { isoTime, present } from './present.ts'

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
