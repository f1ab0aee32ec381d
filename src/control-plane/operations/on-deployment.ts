import type { Call } from '../../core/http/index.ts'
import { ownerOf } from '../../core/principal.ts'
import { checkMatch, hasChanged } from '../api/headers.ts'
import { routeAfter } from '../api/route.ts'
import type { ControlPlaneContext } from '../context.ts'
import { noDeployment } from '../errors.ts'
import { presentDeployment } from '../present.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'
import { DEPLOYMENT_PATH, REVISION_PATH } from '../wire/common.ts'

/** An operation on a deployment. It responds with 404 if the caller has no such deployment. */
export const onDeployment = routeAfter(
  (context, { call, params }) => findDeployment(context, call, params.deployment_id),
  DEPLOYMENT_PATH,
)

/**
 * An operation on a revision. It responds with the same 404 for a revision that the deployment does not have.
 */
export const onRevision = routeAfter(async (context, { call, params }) => {
  const deployment = await findDeployment(context, call, params.deployment_id)
  return { deployment, revision: await revisionOfDeployment(context, deployment, params.revision_id) }
}, REVISION_PATH)

/** Throws 404 if the caller has no such deployment. */
export async function findDeployment(
  { deployments }: ControlPlaneContext,
  { principal }: Call,
  id: string,
): Promise<DeploymentRecord> {
  const deployment = await deployments.find(ownerOf(principal), id)
  if (!deployment) throw noDeployment(id)
  return deployment
}

export async function revisionOfDeployment(
  { deployments }: ControlPlaneContext,
  deployment: Pick<DeploymentRecord, 'id' | 'owner'>,
  revisionId: string,
): Promise<RevisionRecord> {
  const revision = await deployments.findRevision(deployment, revisionId)
  if (!revision) throw noDeployment(deployment.id)
  return revision
}

/**
 * Throws 412 if `If-Match` names another state than the one that was read. The returned function checks the
 * same for the record that is about to be changed.
 */
export async function ifMatch(
  context: ControlPlaneContext,
  { request }: Call,
  read: DeploymentRecord,
): Promise<(now: DeploymentRecord) => void> {
  const header = request.headers.get('if-match')
  if (header === null) return () => {}
  checkMatch(request, await presentDeployment(context, read))
  const text = JSON.stringify(read)
  return (now) => {
    if (header.trim() !== '*' && JSON.stringify(now) !== text) throw hasChanged()
  }
}

/** Values separated by commas. Undefined for none. */
export function commaSeparated(text: string | undefined): readonly string[] | undefined {
  const values = (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length > 0 ? values : undefined
}
