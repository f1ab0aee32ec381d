import { HttpError } from '../../../core/http/index.ts'
import type { Principal } from '../../../core/principal.ts'
import { headOf, type ThreadAddress } from '../../../engine/index.ts'
import { isRunEnd, type LoggedEvent } from '../../../messages/thread-events/index.ts'
import type { PlatformContext } from '../context.ts'
import type { Frame } from '../frames/frame.ts'
import { framesOfRun, type SentFrame } from '../frames/read-frames.ts'

/** `run_modes`: the frames of all runs. `lifecycle`: only those that start and end runs. */
export type ThreadMode = 'run_modes' | 'lifecycle'

export interface ThreadFramesRequest {
  readonly threadId: string
  readonly principal: Principal | null
  readonly modes: readonly ThreadMode[]
  /** The position where the frames start. */
  readonly from: Position
  readonly signal?: AbortSignal | undefined
}

/** A position between two frames. */
export interface Position {
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
