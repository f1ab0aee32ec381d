import type { Call } from '../../core/http/index.ts'
import { ownerOf } from '../../core/principal.ts'
import { checkMatch, hasChanged } from '../api/conditional.ts'
import {
  type Input,
  type Method,
  type Operation,
  type OperationSpec,
  operation,
  type Reply,
} from '../api/operation.ts'
import type { ControlPlaneContext } from '../context.ts'
import { noDeployment } from '../errors.ts'
import { presentDeployment } from '../present/deployment.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'
import { DEPLOYMENT_PATH, REVISION_PATH } from '../wire/common.ts'

/** An operation on a deployment. It responds with 404 if the caller has no such deployment. */
/* @__NO_SIDE_EFFECTS__ */
export const onDeployment = <const Route extends `${Method} /${string}`, const S extends OperationSpec>(
  route: Route,
  summary: string,
  spec: S,
  run: (context: ControlPlaneContext, deployment: DeploymentRecord, input: Input<Route, S>) => Promise<Reply>,
): Operation =>
  operation(route, summary, { params: DEPLOYMENT_PATH, ...spec }, async (context, input) => {
    const { deployment_id } = input.params as unknown as { readonly deployment_id: string }
    return run(context, await findDeployment(context, input.call, deployment_id), input as never)
  })

/**
 * An operation on a revision. It responds with the same 404 for a revision that the deployment does not have.
 */
/* @__NO_SIDE_EFFECTS__ */
export const onRevision = <const Route extends `${Method} /${string}`, const S extends OperationSpec>(
  route: Route,
  summary: string,
  spec: S,
  run: (
    context: ControlPlaneContext,
    found: { readonly deployment: DeploymentRecord; readonly revision: RevisionRecord },
    input: Input<Route, S>,
  ) => Promise<Reply>,
): Operation =>
  onDeployment(route, summary, { params: REVISION_PATH, ...spec }, async (context, deployment, input) => {
    const { revision_id } = input.params as unknown as { readonly revision_id: string }
    const revision = await revisionOfDeployment(context, deployment, revision_id)
    return run(context, { deployment, revision }, input as never)
  })

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
