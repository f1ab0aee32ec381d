import { baselineFrames, gapFrame } from '../baseline.ts'
import { concat } from '../bytes.ts'
import type { RunContext } from '../context.ts'
import type { EventFilter, Matcher } from '../log/filter.ts'
import { parseEventId } from '../log/frame.ts'
import { loadThread, type ThreadRecord } from '../records/records.ts'
import { ownThread, savedThread } from '../threads/threads.ts'
import type { Topic } from '../topic.ts'

export interface SubscribeRequest {
  readonly threadId: string
  readonly owner: string | null
  readonly filter: EventFilter
  /** Only events with a higher sequence number. */
  readonly since?: number | undefined
  /** Only events after this one, when the log still has it; else everything. Goes before `since`. */
  readonly lastEventId?: string | undefined
}

/** Where a subscriber begins, and what it is sent of the log from there. */
export interface ReplayStart {
  readonly after: number
  /** What to send before the log. */
  readonly prologue: Uint8Array | undefined
  /** In the order of the log. The last one has no end. */
  readonly ranges: readonly ReplayRange[]
  /** When the thread was made, by which it is known from a later one of its name. Null where it has no record yet. */
  readonly createdAt: number | null
}

export interface ReplayRange {
  /** The last sequence number. */
  readonly until: number
  readonly wanted: Matcher
}

/** Where a subscriber begins, or undefined while its owner has no such thread. */
export async function locateStart(
  context: RunContext,
  request: SubscribeRequest,
  filter: Matcher,
): Promise<ReplayStart | undefined> {
  const { store } = context
  const { threadId, owner } = request
  // The log before the record: a run that starts in between is then newer than the replay, never missing from it.
  const { head, firstRetained } = await store.inspect(threadId)
  const record = (await loadThread(store, threadId))?.record
  const thread = record ? ownThread(record, owner) : await savedThread(context, threadId, owner)
  if (!thread) return undefined
  const createdAt = record?.createdAt ?? null
  const live: ReplayRange = { until: Number.POSITIVE_INFINITY, wanted: filter }
  const cursor = await cursorOf(context, request, head)
  if (cursor !== undefined && cursor + 1 >= firstRetained)
    return { after: cursor, prologue: undefined, ranges: [live], createdAt }
  const after = firstRetained - 1
  const state = () => baselineFrames(context, thread, filter, after)
  if (cursor !== undefined)
    return {
      after,
      prologue: concat([gapFrame(cursor, firstRetained), ...(await state())]),
      ranges: [live],
      createdAt,
    }
  const frames = after > 0 || head === 0 || thread.supersededThroughSeq > 0 ? await state() : []
  return {
    after,
    prologue: frames.length > 0 ? concat(frames) : undefined,
    ranges: [...history(thread, filter, head), live],
    createdAt,
  }
}

/** The sequence number a subscriber has already seen, or undefined for one that wants everything. */
async function cursorOf(
  { store }: RunContext,
  { threadId, since, lastEventId }: SubscribeRequest,
  head: number,
): Promise<number | undefined> {
  const seen = lastEventId === undefined ? undefined : parseEventId(lastEventId)
  if (seen && seen.seq >= 1) {
    const batch = await store.read(threadId, { after: seen.seq - 1, limit: 1 })
    const known =
      batch.count > 0 && batch.first === seen.seq && batch.origins[batch.originOf[0]!]!.token === seen.token
    if (known) return seen.seq
  }
  // A cursor beyond the log comes from a log that is no more.
  return since !== undefined && since <= head ? since : undefined
}

/** What a client without a cursor is sent of the past. */
function history(thread: ThreadRecord, filter: Matcher, head: number): readonly ReplayRange[] {
  const current = currentOnly(thread)
  return [
    {
      until: thread.supersededThroughSeq,
      wanted: (topic) => isStatusEvent(topic) && filter(topic) && current(topic),
    },
    { until: head, wanted: (topic) => filter(topic) && current(topic) },
  ]
}

/** Tells how the newest run stands and what is asked: that holds, whatever became of the state. */
const isStatusEvent = ({ method, namespace }: Topic): boolean =>
  method === 'input.requested' || (method === 'lifecycle' && namespace.length === 0)

/**
 * What still holds of a thread's past. A new client takes an earlier run's `completed` for the end of its own run, an
 * answered interrupt for an open one, and half a message for the newest one: they are left out of a replay without a cursor.
 */
function currentOnly({
  lastRunId,
  activeRunId,
  interrupts,
  unfinishedRunIds: cutShort,
}: ThreadRecord): Matcher {
  const cut = new Set(cutShort)
  const open = new Map(interrupts.map(({ id, runId }) => [id, runId]))
  return ({ method, namespace, runId, detail }) => {
    if (method === 'lifecycle' && namespace.length === 0) return runId === lastRunId
    // Whole messages come with the state.
    if (method === 'messages') return !cut.has(runId)
    // What a run asks is entered into the record when it ends.
    if (method === 'input.requested' && detail !== undefined)
      return runId === activeRunId || open.get(detail) === runId
    return true
  }
}
