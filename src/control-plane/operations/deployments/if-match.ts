import type { Call } from '../../../http/index.ts'
import { checkMatch, hasChanged } from '../../api/conditional.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { presentDeployment } from '../../present/deployment.ts'
import type { DeploymentRecord } from '../../records/records.ts'

/**
 * Throws 412 where `If-Match` names another state of the deployment than the one that was read. The result is called with the one that
 * is going to be changed, and throws 412 where it is no longer that one.
 */
export async function ifMatch(
  context: ControlPlaneContext,
  { request }: Call,
  read: DeploymentRecord,
): Promise<(now: DeploymentRecord) => void> {
  if (!request.headers.has('if-match')) return () => {}
  checkMatch(request, await presentDeployment(context, read))
  const text = JSON.stringify(read)
  return (now) => {
    if (request.headers.get('if-match')!.trim() !== '*' && JSON.stringify(now) !== text) throw hasChanged()
  }
}
