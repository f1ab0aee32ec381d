import { uuid7 } from '../../../core/ids.ts'
import type { RequestKey } from '../../api/headers.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { InvalidRequest, refusal } from '../../errors.ts'
import { tenantIdOf } from '../../records/names.ts'
import type { DeploymentRecord, NewRevision } from '../../records/records.ts'
import { partitionOf } from '../../records/stored.ts'
import { CREATE_DEPLOYMENT, type CreateBody } from '../../wire/deployment.ts'
import { createFindings, MISSING } from '../../wire/problems.ts'
import { checkListener } from '../listeners.ts'
import { checkDeployable, checkSecrets, checkSource, isDeployable } from '../rules.ts'
import { revisionOf, withoutNulls } from './change.ts'
import { NOT_UPLOADED } from './uploads.ts'

/** The record of a new deployment, and its first revision if there is something to deploy. Throws 400. */
export async function newDeployment(
  context: ControlPlaneContext,
  body: CreateBody,
  owner: string | null,
  { id, fingerprint }: Pick<RequestKey, 'id'> & Partial<RequestKey> = { id: uuid7(context.now()) },
): Promise<{ readonly deployment: DeploymentRecord; readonly first: NewRevision | undefined }> {
  const name = nameOf(body)
  const secrets = body.secrets ?? []
  const request = {
    source: body.source,
    sourceConfig: withoutNulls(body.source_config),
    sourceRevisionConfig: withoutNulls(body.source_revision_config),
    secretReferences: body.secret_references ?? [],
  }
  checkSource(request, context.integrations !== undefined)
  if (request.sourceRevisionConfig.source_tarball_path !== undefined) {
    throw refusal(400, NOT_UPLOADED)
  }
  checkSecrets(secrets, request.secretReferences)
  checkDeployable(context.deployer, request, body)
  await checkIntegration(context, owner, request.sourceConfig.integration_id)
  await checkListener(context, owner, request)

  const at = context.now()
  const deployment: DeploymentRecord = {
    ...request,
    id,
    owner,
    tenantId: await tenantIdOf(owner),
    name,
    displayName: null,
    agent: body.agent ?? null,
    secrets: await context.secrets.seal(partitionOf(id), secrets),
    status: 'AWAITING_DATABASE',
    latestRevisionId: null,
    activeRevisionId: null,
    pending: [],
    revisionCount: 0,
    retiring: [],
    url: null,
    imageVersion: null,
    tagValueIds: [],
    tracerSessionId: crypto.randomUUID(),
    createdAt: at,
    updatedAt: at,
    ...(fingerprint !== undefined && { fingerprint }),
  }
  return { deployment, first: isDeployable(deployment) ? revisionOf(deployment) : undefined }
}

async function checkIntegration(
  { integrations }: ControlPlaneContext,
  owner: string | null,
  id: string | null | undefined,
): Promise<void> {
  if (!integrations || id == null) return
  const known = await integrations.list(owner)
  if (!known.some((integration) => integration.id === id))
    throw refusal(400, `Integration ID ${id} not found.`)
}

const MAX_NAME = 128

/**
 * The name of a new deployment. Default: made from the agent's name. Throws 422 without either, and 400 for
 * an invalid name.
 */
function nameOf(body: CreateBody): string {
  const { name, agent } = body
  if (name == null && agent == null) {
    const findings = createFindings()
    findings.add(MISSING, ['body', 'name'], body, CREATE_DEPLOYMENT)
    throw new InvalidRequest(findings.problems)
  }
  const chosen = name ?? slug(`${agent!.agent_id}-${agent!.environment}`)
  if (chosen.length <= MAX_NAME && /^[A-Za-z][A-Za-z0-9-]*$/.test(chosen)) return chosen
  const rule = `it starts with a letter, has letters, digits and dashes only, and at most ${MAX_NAME} characters`
  throw refusal(400, `The name of a deployment is not valid: ${rule}.`)
}

const slug = (text: string): string => text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
