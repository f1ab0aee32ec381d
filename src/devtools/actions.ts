import { empty, HttpError, json } from '../http/index.ts'
import { permit } from '../requests/access.ts'
import { bodyOf } from '../requests/body.ts'
import type { FaceCall } from '../requests/routes.ts'
import type { DevtoolsContext } from './context.ts'
import { answersSchema, forkSchema, type StartedRun } from './wire.ts'

/** `POST …/api/threads/{thread_id}/answers`: answers interrupts by starting a run that goes on with them. */
export async function postAnswers(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  assertJson(call)
  const { answers } = await bodyOf(answersSchema, call)
  if (Object.keys(answers).length === 0)
    throw new HttpError(400, 'invalid_argument', 'answers: name at least one interrupt.')
  const { runId } = await context.engine.respond({ ...common(context, call), answers })
  return json({ run_id: runId } satisfies StartedRun)
}

/** `POST …/api/threads/{thread_id}/forks`: starts a run from an earlier checkpoint. */
export async function postFork(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  assertJson(call)
  const { checkpoint_id: checkpointId, input = null } = await bodyOf(forkSchema, call)
  const run = { ...common(context, call), input, checkpointId, mustExist: true }
  const { runId } = await context.engine.start(run)
  return json({ run_id: runId } satisfies StartedRun)
}

/** `POST …/api/threads/{thread_id}/runs/{run_id}/cancel`: settles once the cancel is recorded. */
export async function postCancel({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  assertJson(call)
  const { threadId, principal } = call
  await engine.cancel({ threadId, principal, runId: call.params.run_id! })
  return empty(202)
}

/** The fields of every request that starts a run. The caller must also be permitted to run the thread's assistant. */
const common = ({ authorize }: DevtoolsContext, call: FaceCall) => ({
  threadId: call.threadId,
  principal: call.principal,
  request: call.request,
  permit: (assistantId: string) =>
    permit(authorize, call, 'runs:create', { threadId: call.threadId, assistantId }),
})

/**
 * A page of another origin can send any other type without asking first, with the cookies or the password that the browser has for
 * this server.
 */
function assertJson({ request }: FaceCall): void {
  const type = request.headers.get('content-type') ?? ''
  if (/^application\/json\s*(;|$)/i.test(type)) return
  throw new HttpError(415, 'unsupported_media_type', 'Send application/json.')
}
