import { HttpError, json } from '../../../core/http/index.ts'
import type { Principal } from '../../../core/principal.ts'
import { internalsOf, type RunRecord } from '../../../engine/index.ts'
import { permit, type ThreadAction } from '../../kit/access.ts'
import { isThreadId } from '../../kit/ids.ts'
import { isSet } from '../../kit/lists.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { placeOf } from '../begin.ts'
import { badRequest, noSuchResponse } from '../errors.ts'
import { partsOf } from '../ids.ts'
import type { OpenAiContext } from '../options.ts'
import { KEEP, type OnDisconnect, readRun, streamRun } from '../read.ts'
import type { ResponseDetails } from './model.ts'
import { headOf } from './post.ts'
import { createResponseWriter } from './writer.ts'

/** A stored response. */
interface StoredResponse {
  readonly id: string
  readonly principal: Principal | null
  readonly run: RunRecord
  readonly details: ResponseDetails
}

/** The response that a path names, if the caller is permitted to use it. Throws 404. */
export async function storedResponse(
  { engine, authorize }: OpenAiContext,
  call: FaceCall,
  action: ThreadAction,
): Promise<StoredResponse> {
  const id = call.params.response_id ?? ''
  const [threadId, runId] = partsOf('resp', id) ?? []
  if (threadId === undefined || runId === undefined || !isThreadId(threadId)) throw noSuchResponse(id)
  const { principal } = await permit(authorize, call, action, { threadId })
  const run = await engine.getRun({ threadId, principal, runId })
  const details = run?.details as ResponseDetails | undefined
  if (!run || details?.object !== 'response') throw noSuchResponse(id)
  return { id, principal, run, details }
}

const isEnded = ({ status }: RunRecord): boolean => status !== 'pending' && status !== 'running'

/**
 * `GET /v1/responses/{id}?stream&starting_after`: the response, or its past and future events from the log.
 */
export async function getResponse(context: OpenAiContext, call: FaceCall): Promise<Response> {
  if (!isSet(call, 'stream')) return present(context, call, await storedResponse(context, call, 'runs:read'))
  const kept = await storedResponse(context, call, 'threads:stream')
  const { run, details, principal } = kept
  const after = startingAfter(call)
  const reading = await readingOf(context, run)
  if (reading.isLost && after >= 0) throw eventsExpired()
  const begun = { ...run, principal, after: placeOf(run.firstSeq) }
  return streamRun(context, call, begun, createResponseWriter(headOf(run, details), after), reading)
}

/** The remaining events of a response would have other numbers. */
const eventsExpired = (): HttpError =>
  new HttpError(
    410,
    'events_expired',
    'The events of this response have expired. Read it without starting_after.',
  )

function startingAfter({ url }: FaceCall): number {
  const text = url.searchParams.get('starting_after')
  if (text === null || text === '') return -1
  const after = Number(text)
  if (Number.isSafeInteger(after) && after >= 0) return after
  throw badRequest('starting_after: expected a sequence number, such as 12.')
}

/** How a stored response is read: from the log, or from its state if the log has lost its events. */
async function readingOf({ engine }: OpenAiContext, run: RunRecord): Promise<OnDisconnect> {
  const { threadId, firstSeq } = run
  if (!isEnded(run) || firstSeq === null) return KEEP
  const { firstRetained } = await internalsOf(engine).store.inspect(threadId)
  return { ...KEEP, isLost: firstRetained > firstSeq }
}

async function present(
  context: OpenAiContext,
  call: FaceCall,
  { run, details, principal }: StoredResponse,
): Promise<Response> {
  const writer = createResponseWriter(headOf(run, details))
  if (!isEnded(run))
    return json({ ...writer.response(), status: run.status === 'pending' ? 'queued' : 'in_progress' })
  const begun = { ...run, principal, after: placeOf(run.firstSeq) }
  await readRun(context, call, begun, writer, await readingOf(context, run))
  return json(writer.response())
}

/**
 * `POST /v1/responses/{id}/cancel`: waits for the end and returns the response. It does not change a response
 * that has ended.
 */
export async function cancelResponse(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const kept = await storedResponse(context, call, 'runs:cancel')
  const { principal, run } = kept
  const named = { threadId: run.threadId, principal, runId: run.runId }
  if (!isEnded(run)) {
    await context.engine.cancel(named)
    await context.engine.wait({ ...named, ...(call.signal && { signal: call.signal }) })
  }
  const ended = await context.engine.getRun(named)
  return present(context, call, ended ? { ...kept, run: ended } : kept)
}

/** `DELETE /v1/responses/{id}`: deletes the thread with its last run. */
export async function deleteResponse(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { id, principal, run } = await storedResponse(context, call, 'runs:delete')
  const { engine } = context
  const { threadId, runId } = run
  const isOfConversation = Object(run.details).echo?.conversation != null
  const runs = isOfConversation ? [] : await engine.listRuns({ threadId, principal })
  if (runs.length === 1) await engine.deleteThread({ threadId, principal })
  else await engine.deleteRun({ threadId, principal, runId })
  return json({ id, object: 'response', deleted: true })
}
