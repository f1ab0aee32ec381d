import { concatBytes } from '../../core/bytes.ts'
import type { LogGap, LoggedEvent } from '../../messages/thread-events/index.ts'
import type { LogBatch } from '../../storage/store/store.ts'
import { decodeBatch, decodeFrames } from '../log/decode.ts'
import { type Matcher, topicOf } from '../log/frame.ts'

/**
 * A subscriber's position in a thread's log. It is pulled, so that a subscriber that stops reading only costs
 * its position. The thread may not exist yet, and another owner's thread looks as if it did not.
 */
export interface Subscription<Chunk = Uint8Array> {
  /**
   * Resolves when it is known that the thread can be read. Rejects if the store is unavailable, and with
   * `no_such_thread` if the thread was deleted; the subscription has then ended. Calling it is optional.
   */
  ready(): Promise<void>
  /**
   * The next events, when there are some: SSE frames by default. `undefined` after `cancel`. Rejects when the
   * server ends the subscription: the reader must see an error, because a clean end makes clients wait
   * forever. While a shared store is unavailable it waits.
   */
  next(): Promise<Chunk | undefined>
  cancel(): void
}

/** Converts log entries to a subscriber's chunks. */
export interface Rendering<Chunk> {
  /** Called with the last sequence number before the first event, when the start position is known. */
  begun?(after: number): void
  /** Renders frames created for this subscriber only. */
  frames(frames: readonly Uint8Array[]): Chunk
  /** Renders the wanted events of a batch. Undefined if it has none. */
  batch(batch: LogBatch, wanted: Matcher): Chunk | undefined
}

/** The stored bytes, shared by all subscribers. */
export const AS_BYTES: Rendering<Uint8Array> = { frames: concatBytes, batch: selectBytes }

/** The events, decoded on first access to their data. */
export const AS_EVENTS: Rendering<readonly (LoggedEvent | LogGap)[]> = {
  frames: decodeFrames,
  batch(batch, wanted) {
    const events = decodeBatch(batch, wanted)
    return events.length > 0 ? events : undefined
  },
}

/**
 * The bytes of a batch's wanted events. Adjacent events are one slice of the stored bytes, so a subscriber
 * that wants all events gets them without a copy.
 */
export function selectBytes(
  { bytes, offsets, count, origins, originOf }: LogBatch,
  wanted: Matcher,
): Uint8Array | undefined {
  // Events share few origins, so each origin is decided once.
  const decided: boolean[] = []
  const slices: number[] = []
  for (let i = 0; i < count; i++) {
    const origin = originOf[i]!
    if (!(decided[origin] ??= wanted(topicOf(origins[origin]!)))) continue
    const start = offsets[i]!
    const end = offsets[i + 1]!
    if (slices[slices.length - 1] === start) slices[slices.length - 1] = end
    else slices.push(start, end)
  }
  if (slices.length <= 2) return slices.length === 0 ? undefined : bytes.subarray(slices[0], slices[1])
  const selected: Uint8Array[] = []
  for (let i = 0; i < slices.length; i += 2) selected.push(bytes.subarray(slices[i], slices[i + 1]))
  return concatBytes(selected)
}
