import {
  createTicker,
  HttpError,
  json,
  jsonText,
  originOf,
  publicBase,
  rejectWithoutPreflight,
  reportError,
  streamResponse,
} from '../../../core/http/index.ts'
import { withoutMetadataFilter } from '../../../core/principal.ts'
import { nextTurn, within } from '../../../core/time.ts'
import { resourceNamed } from '../../../engine/assistants/index.ts'
import { internalsOf, type RunRecord } from '../../../engine/index.ts'
import { permit, type ThreadResource } from '../../kit/access.ts'
import { namedAssistant } from '../../kit/assistants.ts'
import { bodyOf } from '../../kit/body.ts'
import { reporterOf } from '../../kit/errors.ts'
import { isSet, mapSome } from '../../kit/lists.ts'
import type { FaceCall, FaceContext } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { type Outcome, outcomeOf, withState } from '../frames/outcome.ts'
import { planRun, type RunOrder, type StartedRun, startPlatformRun } from './start-run.ts'
import { presentRun, type RunCreate, runCreateSchema } from './wire.ts'

/** The `authorize` resource of a body that creates a run. */
export async function namedRun(
  { engine }: PlatformContext,
  call: Pick<FaceCall, 'json' | 'params'>,
): Promise<ThreadResource> {
  const { assistant_id: named } = await bodyOf(runCreateSchema, call)
  const { thread_id: threadId } = call.params
  return { assistantId: await resourceNamed(engine, named), ...(threadId !== undefined && { threadId }) }
}

/** `POST …/runs`: starts a run without waiting for it. */
export async function postRun(context: PlatformContext, call: FaceCall<RunCreate>): Promise<Response> {
  const run = await startRun(context, call, call.body)
  if (run.deletedBy === 'starter') void dispose(context, call, run, context.engine.wait(run))
  return json(presentRun(await recordOf(context, run)), { headers: locationOf(call, run) })
}

/** `POST …/runs/wait`: starts a run and responds with its outcome. */
export async function postRunAndWait(context: PlatformContext, call: FaceCall<RunCreate>): Promise<Response> {
  const { body } = call
  const run = await startRun(context, call, body)
  const outcome = outcomeOf(context.engine, run, run.appliedThroughSeq).then((ended) =>
    withState(context.engine, run, ended),
  )
  if (body.on_disconnect === 'cancel') cancelWhenGone(context, call, run, outcome)
  if (run.deletedBy === 'starter') void dispose(context, call, run, outcome)
  return whenEnded(context, call, outcome, locationOf(call, run))
}

/** How many runs of a batch are prepared at the same time. */
const PLANS_AT_ONCE = 8

/** `POST /runs/batch`: starts runs with their own threads, or none if one is rejected. */
export async function postBatch(context: PlatformContext, call: FaceCall): Promise<Response> {
  const bodies = (await call.json()) as readonly unknown[]
  const plans: (() => Promise<StartedRun>)[] = []
  for await (const plan of mapSome(bodies, PLANS_AT_ONCE, async (body) => {
    const item = await permittedItem(context, { ...call, json: async () => body })
    return planRun(context, orderOf(item), await bodyOf(runCreateSchema, item))
  })) {
    plans.push(plan)
  }
  const records: RunRecord[] = []
  for (const start of plans) {
    // With a store in memory, all runs of a batch would otherwise execute in one turn of the event loop.
    await nextTurn()
    const run = await start()
    if (run.deletedBy === 'starter') void dispose(context, call, run, context.engine.wait(run))
    records.push(await recordOf(context, run))
  }
  return json(records.map(presentRun))
}

/** A run of a batch as it is permitted, with all that will run. Throws before any run of the batch starts. */
async function permittedItem(context: PlatformContext, item: FaceCall): Promise<FaceCall> {
  const { engine, authorize } = context
  const resource = await namedRun(context, item)
  const permitted = await permit(authorize, item, 'runs:create', resource, item.json)
  const { graphId } = await namedAssistant(
    engine,
    withoutMetadataFilter(item.principal),
    resource.assistantId,
  )
  if (graphId !== undefined && graphId !== resource.assistantId)
    await permit(authorize, item, 'runs:create', { ...resource, assistantId: graphId }, item.json)
  return permitted
}

/** Starts the run that a request asks for. */
export async function startRun(
  context: PlatformContext,
  call: FaceCall,
  body: RunCreate,
): Promise<StartedRun> {
  const run = await startPlatformRun(context, orderOf(call), body)
  const work = internalsOf(context.engine).working(run.threadId)
  if (work) call.waitUntil(work)
  return run
}

const orderOf = (call: FaceCall): RunOrder => ({
  principal: call.principal,
  threadId: call.threadId === '' ? undefined : call.threadId,
  request: call.request,
  base: publicBase(call),
})

/** The path of the run, from which the SDK reads the ids. A run's own thread is not shown. */
export const locationOf = (call: FaceCall, { threadId, runId }: StartedRun): Record<string, string> => ({
  'content-location':
    call.threadId === '' ? `/runs/${runId}` : `/threads/${encodeURIComponent(threadId)}/runs/${runId}`,
})

/**
 * Where LangGraph's clients reconnect, as a path relative to the server URL that they use. A `wait` response
 * has none: the Python client would reconnect with a Content-Length but no body, and fail.
 */
export const reconnectHeaders = (
  what: 'join' | 'stream',
  { threadId, runId }: Pick<StartedRun, 'threadId' | 'runId'>,
  search: string,
): Record<string, string> => ({
  location: `/threads/${encodeURIComponent(threadId)}/runs/${runId}/${what}${search}`,
})

async function recordOf({ engine }: PlatformContext, run: StartedRun): Promise<RunRecord> {
  const record = await engine.getRun(run)
  if (record) return record
  throw new HttpError(404, 'not_found', 'Run not found')
}

/** Deletes the thread of a finished run. If this process closes first, any instance deletes it later. */
export async function dispose(
  { engine, onError }: PlatformContext,
  call: FaceCall,
  { threadId, principal }: StartedRun,
  over: Promise<unknown>,
): Promise<void> {
  try {
    await over
  } catch {
    return // The caller that waits for it gets the error.
  }
  try {
    await engine.deleteThread({ threadId, principal })
  } catch (error) {
    reportError(error, onError, originOf(call.request, call.params))
  }
}

/** Whether the run is cancelled when its client disconnects. Throws 403 for a link from another origin. */
export function isCancelledByLeaving(call: FaceCall): boolean {
  if (!isSet(call, 'cancel_on_disconnect')) return false
  rejectWithoutPreflight(call.request, call.url, 'acting')
  return true
}

/** Cancels a run whose client has disconnected. */
export const cancel = (
  { engine, onError }: PlatformContext,
  call: FaceCall,
  run: Pick<StartedRun, 'threadId' | 'runId' | 'principal'>,
): void =>
  void engine.cancel(run).catch((error) => reportError(error, onError, originOf(call.request, call.params)))

/** Cancels a run if its client disconnects before the run has ended. */
export function cancelWhenGone(
  context: PlatformContext,
  call: FaceCall,
  run: Parameters<typeof cancel>[2],
  over: Promise<unknown>,
): void {
  const { signal } = call
  const leave = () => cancel(context, call, run)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave)
  const forget = () => signal?.removeEventListener('abort', leave)
  over.then(forget, forget)
}

const BEAT_MS = 1_000
const beats = /* @__PURE__ */ createTicker(BEAT_MS)
const encoder = /* @__PURE__ */ new TextEncoder()
const NEWLINE = /* @__PURE__ */ encoder.encode('\n')

/**
 * The end of a run as JSON. If it takes longer than a second, the response starts without it and sends a
 * newline every second, so that no proxy closes the connection.
 */
export async function whenEnded(
  context: FaceContext,
  call: FaceCall,
  outcome: Promise<Outcome>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  let ended: Outcome | undefined
  const settled = outcome.then((value) => {
    ended = value
  })
  await within(BEAT_MS, settled)
  if (ended) return jsonText(ended.body, { headers })
  settled.catch(() => {}) // A client that is still connected gets it below.
  let isRead = false
  const source = {
    async next() {
      if (isRead) return undefined
      const { body } = await outcome
      isRead = true
      return encoder.encode(body)
    },
    cancel() {},
  }
  const framing = { headers: { 'content-type': 'application/json', ...headers }, heartbeat: NEWLINE }
  return streamResponse(source, framing, { onError: reporterOf(context, call), ticker: beats })
}
