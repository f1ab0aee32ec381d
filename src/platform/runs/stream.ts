import { bodyOf, readBy } from '../../face/body.ts'
import { reporterOf } from '../../face/errors.ts'
import type { FaceCall } from '../../face/routes.ts'
import {
  encodeSse,
  HttpError,
  originOf,
  reportError,
  type StreamSource,
  sseResponse,
} from '../../http/index.ts'
import type { PlatformContext } from '../context.ts'
import { readFrames } from '../frames/read-frames.ts'
import { dispose, isCancelledByLeaving, locationOf, reconnectHeaders, startRun } from './create.ts'
import { schemas } from './schemas.ts'
import type { StartedRun } from './start-run.ts'

type Run = Pick<StartedRun, 'threadId' | 'runId' | 'principal'>

/** `POST …/runs/stream`: starts a run, and sends its frames until it has ended. */
export async function postRunAndStream(context: PlatformContext, call: FaceCall): Promise<Response> {
  const body = await bodyOf((await schemas()).runCreateSchema, call)
  const { on_disconnect, stream_mode, stream_subgraphs } = body
  const run = await startRun(context, call, body)
  const frames = readFrames(context, {
    ...run,
    modes: stream_mode ?? ['values'],
    subgraphs: stream_subgraphs,
    withoutIds: call.threadId === '',
  })
  const read =
    run.deletedBy === 'starter' ? { ...frames, cancel: disposing(context, call, run, frames) } : frames
  const source = on_disconnect === 'cancel' ? cancelling(context, call, run, read) : read
  const response = sseResponse(source, {
    signal: call.signal,
    onError: reporterOf(context, call),
  })
  const search = on_disconnect === 'cancel' ? '?cancel_on_disconnect=1' : ''
  // Frames without ids cannot be gone on with.
  const isLasting = call.threadId !== ''
  return withHeaders(response, {
    ...locationOf(call, run),
    ...(isLasting && reconnectHeaders('stream', run, search)),
  })
}

/** `GET …/runs/{run_id}/stream?stream_mode&cancel_on_disconnect`, with `Last-Event-ID`: the frames of a run, past and future. */
export async function joinStream(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const asked = call.url.searchParams.getAll('stream_mode').filter((mode) => mode !== '')
  const modes = asked.length === 0 ? undefined : readBy((await schemas()).modesSchema, asked, refused)
  const lastEventId = call.request.headers.get('last-event-id') ?? undefined
  const run = { threadId, runId: call.params.run_id!, principal }
  const options = { signal: call.signal, onError: reporterOf(context, call) }
  if (!(await context.engine.getRun(run))) return sseResponse(unknownRun(), options)
  const frames = readFrames(context, { ...run, modes, lastEventId })
  const source = isCancelledByLeaving(call) ? cancelling(context, call, run, frames) : frames
  return withHeaders(sseResponse(source, options), reconnectHeaders('stream', run, call.url.search))
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

/** LangGraph's servers tell of a run that they do not know in the stream, where clients look for the status. */
function unknownRun(): StreamSource {
  const data = JSON.stringify({ error: 'Error', message: '404: Run not found' })
  const frames = [encodeSse({ event: 'error', data })]
  return { next: async () => frames.shift(), cancel() {} }
}

const refused = (message: string): HttpError =>
  new HttpError(400, 'invalid_argument', `stream_mode: ${message}`)

/** Cancels the run when its reader goes before the end. */
function cancelling(
  { engine, onError }: PlatformContext,
  call: FaceCall,
  run: Run,
  source: StreamSource,
): StreamSource {
  let isOver = false
  return {
    async next() {
      const bytes = await source.next()
      isOver ||= bytes === undefined
      return bytes
    },
    cancel() {
      source.cancel()
      if (isOver) return
      engine.cancel(run).catch((error) => reportError(error, onError, originOf(call.request, call.params)))
    },
  }
}

/** Deletes the thread of a run when its stream is over; a run that goes on without its reader keeps it until its end. */
const disposing =
  (context: PlatformContext, call: FaceCall, run: StartedRun, source: StreamSource) => (): void => {
    source.cancel()
    void dispose(context, call, run, context.engine.wait(run))
  }
