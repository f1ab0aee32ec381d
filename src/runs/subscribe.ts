import { baselineFrames, gapFrame } from './baseline.ts'
import type { RunContext } from './context.ts'
import { createMatcher, type EventFilter, type Matcher } from './filter.ts'
import { parseEventId } from './frame.ts'
import type { ThreadRecord } from './records.ts'
import { selectBytes } from './select.ts'
import type { ReaderEnd } from './tail.ts'
import { findThread } from './threads.ts'

export interface SubscribeRequest {
  readonly threadId: string
  readonly owner: string | null
  readonly filter: EventFilter
  /** Only events with a higher sequence number. */
  readonly since?: number | undefined
  /** Only events after this one, when the log still has it; else everything. Goes before `since`. */
  readonly lastEventId?: string | undefined
}

/**
 * A subscriber: a place in a thread's log. It pulls, nobody pushes, so one that stops reading costs its place and nothing
 * more. The thread may not exist yet, and another owner's looks like one that does not.
 */
export interface Subscription {
  /**
   * SSE frames of the next events, once there are some. `undefined` after `cancel`. Rejects when the server ends it: the
   * reader must see an error, because a clean end makes clients wait for ever.
   */
  next(): Promise<Uint8Array | undefined>
  cancel(): void
}

interface Start {
  readonly after: number
  /** What to send before the log. */
  readonly prologue: Uint8Array | undefined
  /** Events up to here are history, and `replay` decides about them; `live` decides about the rest. */
  readonly until: number
  readonly replay: Matcher
  readonly live: Matcher
}

export function subscribe(context: RunContext, request: SubscribeRequest): Subscription {
  const { store, tails } = context
  const { threadId } = request
  const tail = tails.open(threadId, end)
  const filter = createMatcher(request.filter)
  let start: Start | undefined
  let after = 0
  /** The count of rings at which the log was read to its head: until it moves there is nothing to read. */
  let atHead: number | undefined
  let outdated = false
  let ended: ReaderEnd | undefined
  let cancelled = false

  function end(how: ReaderEnd): void {
    if (!start && how.at === 'once') {
      // It has seen nothing of the thread that is gone, and goes on waiting for one of its own.
      outdated = true
      return
    }
    ended ??= how
    tail.close()
  }

  function cancel(): void {
    cancelled = true
    tail.close()
  }

  async function next(): Promise<Uint8Array | undefined> {
    while (!cancelled) {
      const seen = tail.rings()
      if (seen === atHead && !ended) {
        await tail.wait(seen)
        continue
      }
      // Taken before the read, which then gives all that was written before the end.
      const last = ended
      const bytes = start ? await read(start, seen) : await begin()
      if (cancelled) break
      if (ended?.at === 'once') throw ended.reason
      if (bytes) return bytes
      if (bytes === null) continue
      if (last) throw last.reason
      await tail.wait(seen)
    }
    return undefined
  }

  /** Undefined: nothing yet, wait. Null: look again at once. */
  async function begin(): Promise<Uint8Array | undefined | null> {
    outdated = false
    const found = await locate(context, request, filter)
    if (outdated) return null
    if (!found) return undefined
    start = found
    after = start.after
    return start.prologue ?? null
  }

  async function read({ until, replay, live }: Start, rings: number): Promise<Uint8Array | undefined | null> {
    const history = after < until
    const batch = await store.read(
      threadId,
      history ? { after, limit: Math.min(until - after, MAX_BATCH) } : { after },
    )
    if (batch.count === 0) return undefined
    if (batch.first > after + 1) return overtaken(batch.first)
    after = batch.first + batch.count - 1
    if (after === batch.head) atHead = rings
    return selectBytes(batch, history ? replay : live) ?? null
  }

  /** The log has dropped what this reader did not take in time. */
  async function overtaken(first: number): Promise<Uint8Array> {
    const gap = gapFrame(after, first)
    after = first - 1
    const thread = await findThread(context, threadId, request.owner)
    return concat(thread ? [gap, ...(await baselineFrames(context, thread, filter, after))] : [gap])
  }

  return { next, cancel }
}

/** Where a subscriber begins, or undefined while its owner has no such thread. */
async function locate(
  context: RunContext,
  request: SubscribeRequest,
  filter: Matcher,
): Promise<Start | undefined> {
  const { store } = context
  const { threadId, owner } = request
  // The log before the record: a run that starts in between is then newer than the replay, never missing from it.
  const { head, firstRetained } = await store.inspect(threadId)
  const thread = await findThread(context, threadId, owner)
  if (!thread) return undefined
  const cursor = await cursorOf(context, request, head)
  if (cursor !== undefined && cursor + 1 >= firstRetained) {
    return { after: cursor, prologue: undefined, until: head, replay: filter, live: filter }
  }
  const frames: Uint8Array[] = []
  if (cursor !== undefined) frames.push(gapFrame(cursor, firstRetained))
  if (firstRetained > 1 || head === 0)
    frames.push(...(await baselineFrames(context, thread, filter, firstRetained - 1)))
  const current = currentOnly(thread)
  return {
    after: firstRetained - 1,
    prologue: frames.length > 0 ? concat(frames) : undefined,
    until: head,
    replay: cursor === undefined ? (topic) => filter(topic) && current(topic) : filter,
    live: filter,
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

/**
 * What still holds of a thread's past. A new client takes an earlier run's `completed` for the end of its own run, and an
 * answered interrupt for an open one: both are left out of a replay without a cursor.
 */
function currentOnly({ lastRunId, activeRunId, interrupts }: ThreadRecord): Matcher {
  const open = new Map(interrupts.map(({ id, runId }) => [id, runId]))
  return ({ method, namespace, runId, detail }) => {
    if (method === 'lifecycle' && namespace.length === 0) return runId === lastRunId
    // What a run asks is entered into the record when it ends.
    if (method === 'input.requested' && detail !== undefined)
      return runId === activeRunId || open.get(detail) === runId
    return true
  }
}

/** Events read at once. The store bounds the bytes. */
const MAX_BATCH = 1_000

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
