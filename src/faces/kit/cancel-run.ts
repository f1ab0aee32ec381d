import { empty } from '../../core/http/index.ts'
import { isSet } from './lists.ts'
import type { FaceCall, FaceContext } from './routes.ts'

/**
 * `POST …/runs/{run_id}/cancel?wait&action`: 202 once the cancel is recorded, or with `wait=1` 204 once the run
 * has ended.
 */
export async function cancelRun({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const run = { threadId, principal, runId: call.params.run_id! }
  await engine.cancel({
    ...run,
    action: call.url.searchParams.get('action') === 'rollback' ? 'rollback' : 'interrupt',
  })
  if (!isSet(call, 'wait')) return empty(202)
  await engine.wait(run)
  return empty(204)
}
