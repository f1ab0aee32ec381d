import { HttpError, isJsonType, json } from '../../core/http/index.ts'
import { internalsOf, type StoredConfig } from '../../engine/index.ts'
import { cancelRun } from '../../faces/kit/cancel-run.ts'
import type { FaceCall } from '../../faces/kit/routes.ts'
import { runConfig } from '../../faces/kit/run-config.ts'
import { titleOf } from '../../faces/kit/title.ts'
import { isRecord } from '../../messages/record.ts'
import type { DevtoolsContext } from './context.ts'
import type { Answers, Breakpoints, Fork, NewRun, StartedRun } from './wire.ts'

/** `POST …/api/threads/{thread_id}/answers`: answers interrupts by starting a run that resumes them. */
export async function postAnswers(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { answers, ...rest } = (await bodyOf(call)) as Partial<Answers>
  if (!isRecord(answers) || Object.keys(answers).length === 0)
    throw invalid('answers: expected an object with at least one interrupt id.')
  const config = { configurable: {}, ...stopsOf(rest) }
  const { runId } = await context.engine.respond({ ...common(call), answers, config })
  return json({ run_id: runId } satisfies StartedRun)
}

/**
 * `POST …/api/threads/{thread_id}/runs`: starts a run of any agent. The thread is created if it does not
 * exist.
 */
export async function postRun(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { assistant_id: assistantId, input, config, ...rest } = (await bodyOf(call)) as Partial<NewRun>
  if (assistantId !== undefined && (typeof assistantId !== 'string' || assistantId === ''))
    throw invalid('assistant_id: expected a string that is not empty.')
  if (input === undefined) throw invalid('input: expected a value.')
  if (config !== undefined && !isRecord(config)) throw invalid('config: expected an object.')
  const stops = stopsOf(rest)
  const { engine } = context
  const { runId } = await engine.start({
    ...common(call),
    assistantId,
    input,
    title: titleOf(input),
    config: { ...runConfig(config, undefined, internalsOf(engine).limits), ...stops },
  })
  return json({ run_id: runId } satisfies StartedRun)
}

/** `POST …/api/threads/{thread_id}/forks`: starts a run from an earlier checkpoint. */
export async function postFork(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { checkpoint_id: checkpointId, input = null, ...rest } = (await bodyOf(call)) as Partial<Fork>
  if (typeof checkpointId !== 'string' || checkpointId === '')
    throw invalid('checkpoint_id: expected a string that is not empty.')
  const config = { configurable: {}, ...stopsOf(rest) }
  const run = { ...common(call), input, checkpointId, config, mustExist: true }
  const { runId } = await context.engine.start(run)
  return json({ run_id: runId } satisfies StartedRun)
}

/** `POST …/api/threads/{thread_id}/runs/{run_id}/cancel`: responds once the cancel is recorded. */
export function postCancel(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  assertJson(call)
  return cancelRun(context, call)
}

/** The fields of every request that starts a run. */
const common = (call: FaceCall) => ({
  threadId: call.threadId,
  principal: call.principal,
  request: call.request,
})

const stopsOf = ({
  interrupt_before: before,
  interrupt_after: after,
}: Breakpoints): Pick<StoredConfig, 'interruptBefore' | 'interruptAfter'> => ({
  interruptBefore: nodesOf('interrupt_before', before),
  interruptAfter: nodesOf('interrupt_after', after),
})

function nodesOf(name: string, value: unknown): '*' | readonly string[] | undefined {
  if (value === undefined || value === '*') return value
  if (Array.isArray(value) && value.every((node) => typeof node === 'string')) return value
  throw invalid(`${name}: expected "*" or a list of node names.`)
}

/**
 * A request without a body is checked too: a page of another origin can send one without a CORS preflight.
 */
function assertJson({ request }: FaceCall): void {
  if (isJsonType(request.headers.get('content-type'))) return
  throw new HttpError(415, 'unsupported_media_type', 'Send application/json.')
}

/** Validated by hand: two fields do not justify loading schemas. */
async function bodyOf(call: FaceCall): Promise<object> {
  assertJson(call)
  const body = await call.json()
  if (isRecord(body)) return body
  throw invalid('Expected an object.')
}

const invalid = (message: string): HttpError => new HttpError(400, 'invalid_argument', message)
