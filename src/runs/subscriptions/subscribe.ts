import { concatBytes } from '../../bytes.ts'
import { UnavailableError } from '../../storage/errors.ts'
import type { LogBatch } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { createMatcher, type Matcher } from '../log/filter.ts'
import { selectBytes } from '../log/select.ts'
import type { SubscriberEnd } from '../log/watchers.ts'
import { loadThread } from '../records/records.ts'
import { findThread } from '../threads/threads.ts'
import {
  baselineFrames,
  gapFrame,
  type LogCursor,
  locateStart,
  type ReplayStart,
  type SubscribeRequest,
} from './replay.ts'

/**
 * A subscriber: a place in a thread's log. It pulls, nobody pushes, so one that stops reading costs its place and nothing
 * more. The thread may not exist yet, and another owner's looks like one that does not.
 */
export interface Subscription<Chunk = Uint8Array> {
  /**
   * Settles when it is known that the thread can be read. Rejects when the store is away, and with `no_such_thread` when the
   * thread was deleted; the subscription is then over. Need not be called.
   */
  ready(): Promise<void>
  /**
   * The next events, once there are some: SSE frames, unless another rendering was asked for. `undefined` after `cancel`.
   * Rejects when the server ends it: the reader must see an error, because a clean end makes clients wait for ever. While a
   * shared store is away it waits.
   */
  next(): Promise<Chunk | undefined>
  cancel(): void
}

/** What a subscriber makes of the log. */
export interface Rendering<Chunk> {
  /** Of frames that were made for this subscriber alone. */
  frames(frames: readonly Uint8Array[]): Chunk
  /** Undefined where the batch has nothing that is wanted. */
  batch(batch: LogBatch, wanted: Matcher): Chunk | undefined
}

/** The stored bytes as they are, shared by all subscribers. */
const AS_BYTES: Rendering<Uint8Array> = { frames: concatBytes, batch: selectBytes }

export const subscribe = (context: RunContext, request: SubscribeRequest): Subscription =>
  subscribeAs(context, request, createMatcher(request.filter), AS_BYTES)

export function subscribeAs<Chunk>(
  context: RunContext,
  request: LogCursor,
  filter: Matcher,
  rendering: Rendering<Chunk>,
): Subscription<Chunk> {
  const { store, watchers } = context
  const { threadId, owner } = request
  const watcher = watchers.open(threadId, end)
  let from = request
  let start: ReplayStart | undefined
  let prologue: readonly Uint8Array[] = []
  let after = 0
  /** The count of wake-ups at which the log was read to its head: until it moves there is nothing to read. */
  let atHead: number | undefined
  /** The count of changes at which the thread was last seen. */
  let seenChanges = 0
  let outdated = false
  let ended: SubscriberEnd | undefined
  let cancelled = false

  function end(how: SubscriberEnd): void {
    if (!start && how.at === 'once') {
      // It has seen nothing of the thread that is gone, and goes on waiting for one of its own.
      outdated = true
      return
    }
    ended ??= how
    watcher.close()
  }

  function cancel(): void {
    cancelled = true
    watcher.close()
  }

  async function ready(): Promise<void> {
    try {
      while (!(await begin()) && outdated);
      if (!start && (await isDeleted())) throw deleted()
    } catch (error) {
      cancel()
      throw error
    }
  }

  async function next(): Promise<Chunk | undefined> {
    while (!cancelled) {
      const seen = watcher.wakeUps()
      if (seen === atHead && !ended) {
        await watcher.wait(seen)
        continue
      }
      // Taken before the read, which then gives all that was written before the end.
      const last = ended
      const chunk = await attempt(seen)
      if (cancelled) break
      if (ended?.at === 'once') throw ended.reason
      if (chunk !== undefined && chunk !== null) return chunk
      if (chunk === null) continue
      if (last) throw last.reason
      await watcher.wait(seen)
    }
    return undefined
  }

  /** Undefined: nothing yet, wait. Null: look again at once. */
  async function attempt(wakeUps: number): Promise<Chunk | undefined | null> {
    try {
      if (!start && !(await begin())) return outdated ? null : undefined
      if (prologue.length === 0) return await read(start!, wakeUps)
      const first = rendering.frames(prologue)
      prologue = []
      return first
    } catch (error) {
      // A shared store comes back, and its notifications with it; the watchers' timer wakes subscribers in any case.
      if (error instanceof UnavailableError && store.capabilities.shared) return undefined
      throw error
    }
  }

  async function begin(): Promise<boolean> {
    outdated = false
    seenChanges = watcher.changes()
    const found = await locateStart(context, from, filter)
    if (outdated || !found) return false
    start = found
    after = found.after
    prologue = found.prologue
    return true
  }

  async function read(
    { ranges, createdAt }: ReplayStart,
    wakeUps: number,
  ): Promise<Chunk | undefined | null> {
    const { until, wanted } = ranges.find((range) => after < range.until)!
    const limit = until === Number.POSITIVE_INFINITY ? {} : { limit: Math.min(until - after, MAX_BATCH) }
    const batch = await watcher.read({ after, ...limit })
    if (mayBeAnother(batch)) {
      const thread = await findThread(context, threadId, owner)
      if (!thread || (createdAt !== null && thread.createdAt !== createdAt)) throw deleted()
    }
    if (batch.head < after && (await store.inspect(threadId)).head < after) return beginAnew()
    if (batch.count === 0) return undefined
    if (batch.first > after + 1) return overtaken(batch.first)
    after = batch.first + batch.count - 1
    watcher.moved(after, batch.head)
    if (after === batch.head && watcher.isFresh(wakeUps)) atHead = wakeUps
    return rendering.batch(batch, wanted) ?? null
  }

  /**
   * Whether nothing is left of what was read before: the log was cut back, or the thread was deleted, and these are the events
   * of another one that has its name.
   */
  function mayBeAnother({ firstRetained, count }: LogBatch): boolean {
    if (firstRetained <= after) return false
    if (count > 0) return true
    const changes = watcher.changes()
    if (changes === seenChanges) return false
    seenChanges = changes
    return true
  }

  /** The store has lost what this reader was given, as one without a file does when it ends: all that is there is new. */
  function beginAnew(): null {
    const hadCursor = from.since !== undefined || from.lastEventId !== undefined
    from = { ...request, since: hadCursor ? 0 : undefined, lastEventId: undefined }
    start = undefined
    after = 0
    return null
  }

  /** The log has dropped what this reader did not take in time. */
  async function overtaken(first: number): Promise<Chunk> {
    const gap = gapFrame(after, first)
    after = first - 1
    const thread = await findThread(context, threadId, owner)
    return rendering.frames(thread ? [gap, ...(await baselineFrames(context, thread, filter, after))] : [gap])
  }

  /** Whether the thread is gone, and not only yet to come. Of another owner's nobody is told. */
  async function isDeleted(): Promise<boolean> {
    const [{ head }, thread] = await Promise.all([store.inspect(threadId), loadThread(store, threadId)])
    return thread ? thread.record.deleting && thread.record.owner === owner : head > 0
  }

  return { ready, next, cancel }
}

const deleted = (): RunError => new RunError('no_such_thread', 'The thread was deleted.')

/** Events read at once. The store bounds the bytes. */
const MAX_BATCH = 1_000
