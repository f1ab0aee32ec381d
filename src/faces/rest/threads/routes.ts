import * as z from 'zod/mini'
import { HttpError, sourceOf, sseResponse } from '../../../core/http/index.ts'
import type { Principal } from '../../../core/principal.ts'
import { headOf, type ThreadAddress } from '../../../engine/index.ts'
import { isRunEnd, type LoggedEvent } from '../../../messages/thread-events/index.ts'
import { readBy } from '../../kit/body.ts'
import { reporterOf } from '../../kit/errors.ts'
import { requireThread } from '../../kit/require-thread.ts'
import { type FaceCall, type FaceRow, route } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import type { Frame } from '../frames/frame.ts'
import { encodeFrames, framesOfRun, type SentFrame } from '../frames/read-frames.ts'

const modesSchema = /* @__PURE__ */ z.array(/* @__PURE__ */ z.enum(['run_modes', 'lifecycle']))

/**
 * `GET /threads/{thread_id}/stream?stream_mode`, with `Last-Event-ID`: the thread's events from now on or
 * after an id, run after run. It ends only when the client disconnects.
 */
async function joinThread(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const asked = call.url.searchParams.getAll('stream_mode').filter((mode) => mode !== '')
  const modes = readBy(modesSchema, asked, (message) => {
    throw new HttpError(400, 'invalid_argument', `stream_mode: ${message}`)
  })
  await requireThread(context, call)
  const lastEventId = call.request.headers.get('last-event-id') ?? undefined
  const from = await positionOf(context.engine, call, lastEventId)
  const request = { threadId, principal, modes: modes.length > 0 ? modes : DEFAULT_MODES, from }
  const source = sourceOf((signal) => encodeFrames(threadFrames(context, { ...request, signal })))
  const response = sseResponse(source, { signal: call.signal, onError: reporterOf(context, call) })
  // LangGraph's clients reconnect here: a path relative to the server URL that they use.
  response.headers.set('location', `/threads/${encodeURIComponent(threadId)}/stream${call.url.search}`)
  return response
}

const DEFAULT_MODES: readonly ThreadMode[] = ['run_modes']

/** The platform's stream of a thread. The streaming protocol's web socket has the same path. */
export const THREAD_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('GET', '/threads/:thread_id/stream', {
    permission: 'threads:stream',
    summary: 'Stream what happens on a thread, run after run.',
    query: { stream_mode: { type: 'array', items: { enum: ['run_modes', 'lifecycle'] } } },
    streams: true,
    run: joinThread,
  }),
]

/** `run_modes`: the frames of all runs. `lifecycle`: only those that start and end runs. */
export type ThreadMode = 'run_modes' | 'lifecycle'

interface ThreadFramesRequest {
  readonly threadId: string
  readonly principal: Principal | null
  readonly modes: readonly ThreadMode[]
  /** The position where the frames start. */
  readonly from: Position
  readonly signal?: AbortSignal | undefined
}

/** A position between two frames. */
interface Position {
  /** The log event that the previous frame was made from. */
  readonly seq: number
  /** The number of that frame among the frames of its event. */
  readonly frame: number
  /** The sequence number before the first event of its run. The run's frames are made from there. */
  readonly start: number
}

type Engine = PlatformContext['engine']

/**
 * The frames of a thread, run after run, without an end. A frame's id is `<seq>-<n>`: its event in the log,
 * and its number among the frames of that event. Ids are the same on every instance and for every reader.
 *
 * Throws `no_such_thread` after the thread is deleted.
 */
export async function* threadFrames(
  { engine }: Pick<PlatformContext, 'engine'>,
  { threadId, principal, modes, from, signal }: ThreadFramesRequest,
): AsyncGenerator<readonly SentFrame[], void, undefined> {
  const thread = { threadId, principal }
  let run: { readonly id: string; readonly frames: Awaited<ReturnType<typeof framesOfRun>> } | undefined

  async function framesOf(event: LoggedEvent): Promise<readonly (Frame | undefined)[]> {
    const { runId } = event
    if (run?.id !== runId) run = { id: runId, frames: await framesOfRun(engine, { ...thread, runId }) }
    const { frames } = run
    const made = (await frames.framesOf(event)).map((frame) => (frames.isAsked(frame) ? frame : undefined))
    return isRunEnd(event) ? [...made, doneFrame(runId)] : made
  }

  const isAsked = ({ mode }: Frame): boolean =>
    modes.includes('run_modes') || (mode === undefined && modes.includes('lifecycle'))

  for await (const batch of engine.events({
    ...thread,
    after: from.start,
    json: true,
    batches: true,
    signal,
  })) {
    const given: SentFrame[] = []
    for (const event of batch) {
      if (event.type !== 'event' || event.eventId.startsWith('synth:')) continue
      const frames = await framesOf(event)
      frames.forEach((frame, n) => {
        const isNew = event.seq > from.seq || (event.seq === from.seq && n > from.frame)
        if (isNew && frame && isAsked(frame)) given.push({ ...frame, id: `${event.seq}-${n}` })
      })
    }
    yield given
  }
}

const doneFrame = (runId: string): Frame => ({
  event: 'metadata',
  namespace: [],
  data: { status: 'run_done', run_id: runId },
})

const BEGINNING: Position = { seq: 0, frame: -1, start: 0 }

/**
 * Where a thread's stream starts: after the frame with this id, or before the first frame for `-` and `-1`.
 * Without an id, before the active run, or at the end of the log. Throws 400 for any other id.
 */
export async function positionOf(
  engine: Engine,
  thread: ThreadAddress,
  lastEventId?: string,
): Promise<Position> {
  if (lastEventId === '-' || lastEventId === '-1') return BEGINNING
  const head = await headOf(engine, thread)
  if (lastEventId === undefined) return nowOf(engine, thread, head)
  const [, seq, frame] = /^(\d{1,15})-(\d{1,9})$/.exec(lastEventId) ?? []
  if (seq === undefined)
    throw new HttpError(
      400,
      'invalid_argument',
      'Last-Event-ID: expected the id of an event of this stream, or "-".',
    )
  // An id beyond the log belongs to a deleted log.
  return Number(seq) > head ? BEGINNING : { seq: Number(seq), frame: Number(frame), start: 0 }
}

async function nowOf(engine: Engine, thread: ThreadAddress, head: number): Promise<Position> {
  const { activeRunId = null } = (await engine.findThread(thread)) ?? {}
  const run = activeRunId === null ? undefined : await engine.getRun({ ...thread, runId: activeRunId })
  const start = Math.min(head, (run?.firstSeq ?? head + 1) - 1)
  return { seq: start, frame: Number.POSITIVE_INFINITY, start }
}
