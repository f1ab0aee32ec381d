import { stateEvents } from '../../agents/root-events.ts'
import { reaches } from '../../core/principal.ts'
import type { RunContext } from '../context.ts'
import {
  encodeGap,
  encodeSynthetic,
  type Matcher,
  parseEventId,
  SUPERSEDED,
  type Topic,
} from '../log/frame.ts'
import { unanswered } from '../records/interrupts.ts'
import { loadWithState, type ThreadRecord } from '../records/records.ts'
import type { Owned, ThreadSubscription } from '../requests.ts'
import { readState } from '../threads/state.ts'
import { ownThread, savedThread } from '../threads/threads.ts'

/** The thread to read, its owner, and the position to start from. */
export interface LogCursor extends Omit<Owned<ThreadSubscription>, 'filter'> {
  /** The thread, if the caller has just read it. */
  readonly known?: ThreadRecord | undefined
}

/** The position where a subscriber begins, and the events to send from there. */
export interface ReplayStart {
  readonly after: number
  /** Frames to send before the log. */
  readonly prologue: readonly Uint8Array[]
  /** In the order of the log. The last range has no end. */
  readonly ranges: readonly ReplayRange[]
  /**
   * When the thread was created, which distinguishes it from a later one with the same id. Null if it has no
   * record yet.
   */
  readonly createdAt: number | null
}

export interface ReplayRange {
  /** The last sequence number. */
  readonly until: number
  readonly wanted: Matcher
  /** Whether the newest root state in it must be the thread's when it ends. */
  readonly endsWithState?: true
}

/**
 * Finds the position where a subscriber begins. If its owner has no such thread: `deleted` if there was one,
 * and it is gone or being deleted, otherwise undefined. The deletion of another owner's thread is not
 * revealed.
 */
export async function locateStart(
  context: RunContext,
  request: LogCursor,
  filter: Matcher,
): Promise<ReplayStart | 'deleted' | undefined> {
  const { store } = context
  const { threadId } = request
  const { state: now, read } = await loadWithState(store, threadId)
  const { head, firstRetained } = now
  const record = read?.record ?? request.known
  const thread = record ? ownThread(record, request) : await savedThread(context, request)
  if (!thread) {
    const isDeleted = record ? record.deleting && reaches(request, record) : head > 0
    return isDeleted ? 'deleted' : undefined
  }
  const createdAt = record?.createdAt ?? null
  const live: ReplayRange = { until: Number.POSITIVE_INFINITY, wanted: filter }
  const cursor = await cursorOf(context, request, head)
  if (cursor !== undefined && cursor + 1 >= firstRetained)
    return { after: cursor, prologue: [], ranges: [live], createdAt }
  const after = firstRetained - 1
  const state = () => baselineFrames(context, thread, filter, after)
  if (cursor !== undefined) {
    const prologue = [encodeGap({ type: 'gap', after: cursor, firstRetained }), ...(await state())]
    return { after, prologue, ranges: [live], createdAt }
  }
  const needsState = after > 0 || head === 0 || thread.supersededThroughSeq > 0
  const prologue = needsState ? await state() : []
  // A run that began in the meantime may have written the state that was read. It sends its states itself.
  const hasBegun = head === 0 && prologue.length > 0 && (await store.inspect(threadId)).head > 0
  return {
    after,
    prologue: hasBegun ? [] : prologue,
    ranges: [...history(thread, filter, head), live],
    createdAt,
  }
}

/** The sequence number that a subscriber has already seen. Undefined if it wants all events. */
async function cursorOf(
  { store }: RunContext,
  { threadId, since, lastEventId }: LogCursor,
  head: number,
): Promise<number | undefined> {
  const seen = lastEventId === undefined ? undefined : parseEventId(lastEventId)
  if (seen && seen.seq >= 1) {
    const batch = await store.read(threadId, { after: seen.seq - 1, limit: 1 })
    const known =
      batch.count > 0 && batch.first === seen.seq && batch.origins[batch.originOf[0]!]!.token === seen.token
    if (known) return seen.seq
  }
  // A cursor beyond the head belongs to a log that no longer exists.
  return since !== undefined && since <= head ? since : undefined
}

/** The past events that a client without a cursor gets. */
function history(thread: ThreadRecord, filter: Matcher, head: number): readonly ReplayRange[] {
  const current = currentOnly(thread)
  return [
    {
      until: thread.supersededThroughSeq,
      wanted: (topic) => isStatusEvent(topic) && filter(topic) && current(topic),
    },
    { until: head, wanted: (topic) => filter(topic) && current(topic), endsWithState: true },
  ]
}

/**
 * Whether an event reports the status of a run or an interrupt, which stays valid when the state is
 * superseded.
 */
const isStatusEvent = ({ method, namespace }: Topic): boolean =>
  method === 'input.requested' || (method === 'lifecycle' && namespace.length === 0)

/**
 * Matches past events that are still valid. A new client would treat an earlier run's `completed` as the end
 * of its own run, an answered interrupt as open, and an incomplete message as the newest one. A replay
 * without a cursor therefore omits them and their retractions.
 */
function currentOnly(thread: ThreadRecord): Matcher {
  const { lastRunId } = thread
  const unfinished = new Set(thread.unfinishedRunIds)
  const lost = new Set(thread.lostTokens)
  const open = new Map(unanswered(thread).map(({ id, runId }) => [id, runId]))
  return ({ method, namespace, runId, detail, token }) => {
    if (method === 'lifecycle' && namespace.length === 0) return runId === lastRunId
    // The state has the complete messages.
    if (method === 'messages') return !unfinished.has(runId) && !lost.has(token) && detail !== SUPERSEDED
    // A lost attempt may have reported a state that was never saved. The next attempt begins with the saved
    // state.
    if (method === 'values' || method === 'checkpoints')
      return detail !== SUPERSEDED && !(namespace.length === 0 && lost.has(token))
    if (method === 'input.requested' && detail !== undefined) return open.get(detail) === runId
    return true
  }
}

/**
 * The root state as a pair of `checkpoints` and `values` events, for a subscriber whose log lacks it: after a
 * restart, or below the retained range. The step keeps clients from removing messages; the id cannot be used
 * as a cursor.
 */
export async function baselineFrames(
  context: RunContext,
  thread: ThreadRecord,
  wanted: Matcher,
  seq: number,
): Promise<readonly Uint8Array[]> {
  const snapshot = await readState(context, thread)
  if (!snapshot) return []
  const id = snapshot.checkpoint.checkpointId
  return stateEvents(snapshot)
    .filter(({ method }) => wanted({ method, namespace: [], runId: '', detail: undefined, token: 0 }))
    .map((event) => encodeSynthetic(event, id, seq))
}
