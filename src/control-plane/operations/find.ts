import type { Call } from '../../http/index.ts'
import { ownerOf } from '../../principal.ts'
import type { ControlPlaneContext } from '../context.ts'
import { noDeployment } from '../errors.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'

/** What names a deployment of the caller. */
export interface DeploymentInput {
  readonly params: { readonly deployment_id: string }
  readonly call: Call
}

export interface RevisionInput extends DeploymentInput {
  readonly params: { readonly deployment_id: string; readonly revision_id: string }
}

/** Throws 404 for one that the caller does not have. */
export async function findDeployment(
  { deployments }: ControlPlaneContext,
  { params, call }: DeploymentInput,
): Promise<DeploymentRecord> {
  const deployment = await deployments.find(ownerOf(call.principal), params.deployment_id)
  if (!deployment) throw noDeployment(params.deployment_id)
  return deployment
}

/** Throws the same 404 for a revision that the deployment does not have. */
export async function findRevision(
  context: ControlPlaneContext,
  input: RevisionInput,
): Promise<{ readonly deployment: DeploymentRecord; readonly revision: RevisionRecord }> {
  const deployment = await findDeployment(context, input)
  return { deployment, revision: await revisionOfDeployment(context, deployment, input.params.revision_id) }
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
