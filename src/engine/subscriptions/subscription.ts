import { concatBytes } from '../../core/bytes.ts'
import type { LogGap, LoggedEvent } from '../../messages/thread-events/index.ts'
import type { LogBatch } from '../../storage/store/store.ts'
import { decodeBatch, decodeFrames } from '../log/decode.ts'
import type { Matcher } from '../log/frame.ts'
import { selectBytes } from '../log/select.ts'

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
