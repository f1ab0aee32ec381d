import { concatBytes } from '../../bytes.ts'
import { reaches } from '../../principal.ts'
import { UnavailableError } from '../../storage/errors.ts'
import type { LogBatch } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { createMatcher, type Matcher } from '../log/filter.ts'
import { encodeGap } from '../log/frame.ts'
import { selectBytes } from '../log/select.ts'
import type { SubscriberEnd } from '../log/watchers.ts'
import { loadThread } from '../records/records.ts'
import type { Owned, ThreadSubscription } from '../requests.ts'
import { findThread } from '../threads/threads.ts'
import { baselineFrames, type LogCursor, locateStart, type ReplayStart } from './replay.ts'

/**
 * A subscriber's position in a thread's log. It is pulled, so that a subscriber that stops reading costs no more than its
 * position. The thread may not exist yet, and another owner's thread looks as if it did not.
 */
export interface Subscription<Chunk = Uint8Array> {
  /**
   * Settles when it is known that the thread can be read. Rejects when the store is unavailable, and with `no_such_thread` when
   * the thread was deleted; the subscription is then over. Need not be called.
   */
  ready(): Promise<void>
  /**
   * The next events, once there are some: SSE frames, unless another rendering was asked for. `undefined` after `cancel`.
   * Rejects when the server ends the subscription: the reader must see an error, because a clean end makes clients wait
   * forever. While a shared store is unavailable it waits.
   */
  next(): Promise<Chunk | undefined>
  cancel(): void
}

/** How log entries become a subscriber's chunks. */
export interface Rendering<Chunk> {
  /** Told of the last sequence number before the first event, when the subscription has found its place in the log. */
  begun?(after: number): void
  /** Renders frames that were made for this subscriber alone. */
  frames(frames: readonly Uint8Array[]): Chunk
  /** Renders the wanted events of a batch. Undefined if it has none. */
  batch(batch: LogBatch, wanted: Matcher): Chunk | undefined
}

/** The stored bytes as they are, shared by all subscribers. */
export const AS_BYTES: Rendering<Uint8Array> = { frames: concatBytes, batch: selectBytes }

export const subscribe = <Chunk>(
  context: RunContext,
  request: Owned<ThreadSubscription>,
  rendering: Rendering<Chunk>,
): Subscription<Chunk> => subscribeAs(context, request, createMatcher(request.filter), rendering)

export function subscribeAs<Chunk>(
  context: RunContext,
  request: LogCursor,
  filter: Matcher,
  rendering: Rendering<Chunk>,
): Subscription<Chunk> {
  const { store, watchers } = context
  const { threadId } = request
  const watcher = watchers.open(threadId, end)
  let from = request
  let start: ReplayStart | undefined
  let prologue: readonly Uint8Array[] = []
  let after = 0
  /** The wake-up count when the log was last read to its head. Until it changes there is nothing to read. */
  let atHead: number | undefined
  /** The change count when the thread was last looked up. */
  let seenChanges = 0
  let outdated = false
  let ended: SubscriberEnd | undefined
  let cancelled = false

  function end(how: SubscriberEnd): void {
    if (!start && how.at === 'once') {
      // It has read nothing of the deleted thread, so it goes on waiting for one.
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
      // Taken before the read, so that the read returns everything that was written before the end.
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

  /** Undefined means that the caller should wait for a wake-up, null that it should try again at once. */
  async function attempt(wakeUps: number): Promise<Chunk | undefined | null> {
    try {
      if (!start && !(await begin())) return outdated ? null : undefined
      if (prologue.length === 0) return await read(start!, wakeUps)
      const first = rendering.frames(prologue)
      prologue = []
      return first
    } catch (error) {
      // A shared store will be available again. Its notifications, or else the watchers' timer, then wake this subscriber.
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
    rendering.begun?.(after)
    return true
  }

  async function read(
    { ranges, createdAt }: ReplayStart,
    wakeUps: number,
  ): Promise<Chunk | undefined | null> {
    const { until, wanted } = ranges.find((range) => after < range.until)!
    const limit = until === Number.POSITIVE_INFINITY ? {} : { limit: Math.min(until - after, MAX_BATCH) }
    const batch = await watcher.read({ after, ...limit })
    if (mayBeRecreated(batch)) {
      const thread = await findThread(context, request)
      if (!thread || (createdAt !== null && thread.createdAt !== createdAt)) throw deleted()
    }
    if (batch.head < after && (await store.inspect(threadId)).head < after) {
      if (!(await findThread(context, request))) throw deleted()
      return restart()
    }
    if (batch.count === 0) return undefined
    if (batch.first > after + 1) return skipGap(batch.first)
    after = batch.first + batch.count - 1
    watcher.moved(after, batch.head)
    if (after === batch.head && watcher.isFresh(wakeUps)) atHead = wakeUps
    return rendering.batch(batch, wanted) ?? null
  }

  /**
   * Whether nothing is left of what was read before: the log was trimmed, or the thread was deleted and this is the log of a
   * new one with the same id. An empty log looks the same when the store has lost everything, which it does not announce.
   */
  function mayBeRecreated({ firstRetained, count, head }: LogBatch): boolean {
    if (firstRetained <= after) return false
    if (count > 0 || head === 0) return true
    const changes = watcher.changes()
    if (changes === seenChanges) return false
    seenChanges = changes
    return true
  }

  /**
   * Starts again after the store has lost what this reader was given, as a store without a file does when it ends, and has the
   * thread again. Everything in it now is new.
   */
  function restart(): null {
    const hadCursor = from.since !== undefined || from.lastEventId !== undefined
    from = { ...request, since: hadCursor ? 0 : undefined, lastEventId: undefined }
    start = undefined
    after = 0
    return null
  }

  /** Answers a reader that was too slow with a gap and the newest state, because the log has dropped the next events. */
  async function skipGap(first: number): Promise<Chunk> {
    const gap = encodeGap({ type: 'gap', after, firstRetained: first })
    after = first - 1
    const thread = await findThread(context, request)
    return rendering.frames(thread ? [gap, ...(await baselineFrames(context, thread, filter, after))] : [gap])
  }

  /** Whether the thread was deleted, rather than not created yet. The deletion of another owner's thread is not revealed. */
  async function isDeleted(): Promise<boolean> {
    const [{ head }, thread] = await Promise.all([store.inspect(threadId), loadThread(store, threadId)])
    return thread ? thread.record.deleting && reaches(request, thread.record) : head > 0
  }

  return { ready, next, cancel }
}

const deleted = (): RunError => new RunError('no_such_thread', 'The thread was deleted.')

/** Events read at once. The store bounds the bytes. */
const MAX_BATCH = 1_000
