import { baselineFrames, gapFrame } from './baseline.ts'
import { concat } from './bytes.ts'
import type { RunContext } from './context.ts'
import { createMatcher } from './filter.ts'
import { locate, type Start, type SubscribeRequest } from './replay.ts'
import { selectBytes } from './select.ts'
import type { ReaderEnd } from './tail.ts'
import { findThread } from './threads.ts'

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

  async function read({ stretches }: Start, rings: number): Promise<Uint8Array | undefined | null> {
    const { until, wanted } = stretches.find((stretch) => after < stretch.until)!
    const limit = until === Number.POSITIVE_INFINITY ? {} : { limit: Math.min(until - after, MAX_BATCH) }
    const batch = await store.read(threadId, { after, ...limit })
    if (batch.count === 0) return undefined
    if (batch.first > after + 1) return overtaken(batch.first)
    after = batch.first + batch.count - 1
    if (after === batch.head) atHead = rings
    return selectBytes(batch, wanted) ?? null
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

/** Events read at once. The store bounds the bytes. */
const MAX_BATCH = 1_000
