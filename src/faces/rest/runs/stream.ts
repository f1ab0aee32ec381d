import { encodeSse, HttpError, type StreamSource, sseResponse } from '../../../core/http/index.ts'
import { readBy } from '../../kit/body.ts'
import { reporterOf } from '../../kit/errors.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { readFrames } from '../frames/read-frames.ts'
import { cancel, dispose, isCancelledByLeaving, locationOf, reconnectHeaders, startRun } from './create.ts'
import { modesSchema, type RunCreate } from './wire.ts'

/** `POST …/runs/stream`: starts a run, and sends its frames until it has ended. */
export async function postRunAndStream(
  context: PlatformContext,
  call: FaceCall<RunCreate>,
): Promise<Response> {
  const { body } = call
  const { on_disconnect, stream_mode, stream_subgraphs } = body
  const run = await startRun(context, call, body)
  const frames = readFrames(context, {
    ...run,
    modes: stream_mode ?? ['values'],
    subgraphs: stream_subgraphs,
    withoutIds: call.threadId === '',
  })
  const source = watched(frames, (isWhole) => {
    if (!isWhole && on_disconnect === 'cancel') cancel(context, call, run)
    // A run that continues without its client keeps its thread until its end.
    const over = () => (isWhole ? Promise.resolve() : context.engine.wait(run))
    if (run.deletedBy === 'starter') void dispose(context, call, run, over())
  })
  const response = sseResponse(source, { signal: call.signal, onError: reporterOf(context, call) })
  const search = on_disconnect === 'cancel' ? '?cancel_on_disconnect=1' : ''
  return withHeaders(response, {
    ...locationOf(call, run),
    // Without frame ids, a client cannot reconnect.
    ...(call.threadId !== '' && reconnectHeaders('stream', run, search)),
  })
}

/**
 * `GET …/runs/{run_id}/stream?stream_mode&cancel_on_disconnect`, with `Last-Event-ID`: a run's past and
 * future frames.
 */
export async function joinStream(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const asked = call.url.searchParams.getAll('stream_mode').filter((mode) => mode !== '')
  const modes = asked.length === 0 ? undefined : readBy(modesSchema, asked, refused)
  const lastEventId = call.request.headers.get('last-event-id') ?? undefined
  const run = { threadId, runId: call.params.run_id!, principal }
  const options = { signal: call.signal, onError: reporterOf(context, call) }
  if (!(await context.engine.getRun(run))) return sseResponse(unknownRun(), options)
  const frames = readFrames(context, { ...run, modes, lastEventId })
  const isCancelled = isCancelledByLeaving(call)
  const source = watched(frames, (isWhole) => {
    if (!isWhole && isCancelled) cancel(context, call, run)
  })
  return withHeaders(sseResponse(source, options), reconnectHeaders('stream', run, call.url.search))
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

/** LangGraph's servers report an unknown run inside the stream, where clients expect it. */
function unknownRun(): StreamSource {
  const data = JSON.stringify({ error: 'Error', message: '404: Run not found' })
  const frames = [encodeSse({ event: 'error', data })]
  return { next: async () => frames.shift(), cancel() {} }
}

const refused = (message: string): HttpError =>
  new HttpError(400, 'invalid_argument', `stream_mode: ${message}`)

/** Calls `onEnd` when the stream is over, also if its client disconnects before the run has ended. */
function watched(source: StreamSource, onEnd: (isWhole: boolean) => void): StreamSource {
  let isWhole = false
  return {
    async next() {
      const bytes = await source.next()
      isWhole ||= bytes === undefined
      return bytes
    },
    cancel() {
      source.cancel()
      onEnd(isWhole)
    },
  }
}
