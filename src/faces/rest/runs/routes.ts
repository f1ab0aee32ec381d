import * as z from 'zod/mini'
import { encodeSse, HttpError, type StreamSource, sseResponse } from '../../../core/http/index.ts'
import type { ThreadResource } from '../../kit/access.ts'
import { readBy } from '../../kit/body.ts'
import { cancelRun } from '../../kit/cancel-run.ts'
import { reporterOf } from '../../kit/errors.ts'
import { threadIdOf } from '../../kit/ids.ts'
import { type FaceCall, type FaceRow, type RouteFields, route } from '../../kit/routes.ts'
import * as answers from '../answers.ts'
import type { PlatformContext } from '../context.ts'
import { readFrames } from '../frames/read-frames.ts'
import {
  cancel,
  dispose,
  isCancelledByLeaving,
  locationOf,
  namedRun,
  postBatch,
  postRun,
  postRunAndWait,
  reconnectHeaders,
  startRun,
} from './create.ts'
import { cancelRuns, deleteRun, getRun, getRuns, joinRun, namedInBody } from './records.ts'
import * as wire from './wire.ts'
import { modesSchema, type RunCreate } from './wire.ts'

const count = { type: 'integer', minimum: 0 }
const flag = { type: 'boolean' }
const listOf = (items: object) => ({ type: 'array', items })
const text = { type: 'string' }

/** `POST …/runs/stream`: starts a run, and sends its frames until it has ended. */
async function postRunAndStream(context: PlatformContext, call: FaceCall<RunCreate>): Promise<Response> {
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
async function joinStream(context: PlatformContext, call: FaceCall): Promise<Response> {
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

type Fields<Body = undefined> = RouteFields<PlatformContext, Body>

const action = { enum: ['interrupt', 'rollback'] }

const creates = { permission: 'runs:create', resource: namedRun, body: wire.runCreateSchema } as const
const create: Fields<wire.RunCreate> = {
  ...creates,
  summary: 'Start a run.',
  answers: { 200: answers.run },
  run: postRun,
}
const createAndWait: Fields<wire.RunCreate> = {
  ...creates,
  summary: 'Start a run, and answer with the values that it ends with.',
  answers: { 200: {} },
  run: postRunAndWait,
}
const createAndStream: Fields<wire.RunCreate> = {
  ...creates,
  summary: 'Start a run, and stream it.',
  streams: true,
  run: postRunAndStream,
}
const get: Fields = {
  permission: 'runs:read',
  summary: 'Get a run.',
  answers: { 200: answers.run },
  run: getRun,
}
const remove: Fields = {
  permission: 'runs:delete',
  summary: 'Delete a run.',
  answers: { 204: null },
  run: deleteRun,
}
const join: Fields = {
  permission: 'runs:read',
  summary: 'Wait for a run, and answer with the values that it ends with.',
  query: { cancel_on_disconnect: flag },
  answers: { 200: {} },
  run: joinRun,
}
const stream: Fields = {
  permission: 'runs:read',
  summary: 'Stream a run.',
  query: { stream_mode: wire.modesSchema, cancel_on_disconnect: flag },
  streams: true,
  run: joinStream,
}

/** A run with its own thread has the same id as the thread. */
const ownThread = ({ params }: Pick<FaceCall, 'params'>): string => threadIdOf(params.run_id!)

const onOwnThread = ({ run, ...fields }: Fields): Fields => ({
  ...fields,
  resource: async (_, call): Promise<ThreadResource> => ({ threadId: ownThread(call) }),
  run: (context, call) => run(context, { ...call, threadId: ownThread(call) }),
})

/** Runs on threads, and with their own threads. The threads' face has the route that cancels one run. */
export const RUN_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('POST', '/threads/:thread_id/runs', create),
  route('POST', '/threads/:thread_id/runs/wait', createAndWait),
  route('POST', '/threads/:thread_id/runs/stream', createAndStream),
  route('GET', '/threads/:thread_id/runs', {
    permission: 'runs:read',
    summary: 'List the runs of a thread.',
    query: { limit: count, offset: count, status: wire.statusSchema, metadata: text, select: text },
    answers: { 200: listOf(z.partial(answers.run)) },
    run: getRuns,
  }),
  route('GET', '/threads/:thread_id/runs/:run_id', get),
  route('DELETE', '/threads/:thread_id/runs/:run_id', remove),
  route('GET', '/threads/:thread_id/runs/:run_id/join', join),
  route('GET', '/threads/:thread_id/runs/:run_id/stream', stream),
  route('POST', '/runs', create),
  route('POST', '/runs/wait', createAndWait),
  route('POST', '/runs/stream', createAndStream),
  route('POST', '/runs/batch', {
    // Each of its runs has a permission of its own.
    permission: null,
    summary: 'Start runs with threads of their own.',
    body: wire.batchSchema,
    answers: { 200: listOf(answers.run) },
    run: postBatch,
  }),
  route('POST', '/runs/cancel', {
    permission: 'runs:cancel',
    resource: namedInBody,
    summary: 'Cancel runs.',
    query: { action },
    body: wire.cancelManySchema,
    answers: { 204: null },
    run: cancelRuns,
  }),
  route('GET', '/runs/:run_id', onOwnThread(get)),
  route('DELETE', '/runs/:run_id', onOwnThread(remove)),
  route('GET', '/runs/:run_id/join', onOwnThread(join)),
  route('GET', '/runs/:run_id/stream', onOwnThread(stream)),
  route(
    'POST',
    '/runs/:run_id/cancel',
    onOwnThread({
      permission: 'runs:cancel',
      summary: 'Cancel a run.',
      query: { wait: flag, action },
      answers: { 202: null, 204: null },
      run: cancelRun,
    }),
  ),
]
