import { concatBytes } from '../../../core/bytes.ts'
import { selectBytes } from '../../../engine/index.ts'
import { chooser, lastOf, type SocketChunk } from './encode.ts'

/** A subscription of a socket, and the part of the log that it has read. */
export interface Source {
  /**
   * All wanted events up to this sequence number were sent or are in `chunk`. -1 until the start position is
   * known.
   */
  known: number
  /** The part that was read but not sent. */
  chunk: SocketChunk | undefined
  /** The index of the chunk's next event. */
  next: number
}

export const newSource = (): Source => ({ known: -1, chunk: undefined, next: 0 })

/** Stores the next chunk of a source. */
export function fill(source: Source, chunk: SocketChunk): void {
  source.chunk = chunk
  source.next = 0
  if (chunk.batch) source.known = lastOf(chunk.batch)
}

/**
 * The next frames that a socket may send, or undefined: the events of all its subscriptions in the order of
 * the log, each once, because the client passes an event to every subscription that wants it. A subscription
 * that is behind is served alone until it has caught up, because an event must not overtake earlier ones.
 */
export function takeFrames(sources: readonly Source[]): Uint8Array | undefined {
  const own = sources.find(({ chunk }) => chunk?.frames)
  if (own) {
    const { frames } = own.chunk!
    own.chunk = undefined
    return frames
  }
  const [only] = sources
  if (only?.next === 0 && sources.length === 1) {
    const { batch, wanted } = only.chunk ?? {}
    only.chunk = undefined
    return batch && selectBytes(batch, wanted!)
  }
  return mergeFrames(sources)
}

function mergeFrames(sources: readonly Source[]): Uint8Array | undefined {
  const until = sources.reduce((least, { known }) => Math.min(least, known), Number.POSITIVE_INFINITY)
  const events = new Map<number, Uint8Array>()
  for (const source of sources) {
    const { batch, wanted } = source.chunk ?? {}
    if (!batch) continue
    const { first, count, bytes, offsets } = batch
    const isWanted = chooser(batch, wanted!)
    const end = Math.min(count, until - first + 1)
    for (; source.next < end; source.next++) {
      const i = source.next
      if (isWanted(i)) events.set(first + i, bytes.subarray(offsets[i], offsets[i + 1]))
    }
    if (source.next >= count) source.chunk = undefined
  }
  if (events.size === 0) return undefined
  return concatBytes([...events].sort(([a], [b]) => a - b).map(([, frame]) => frame))
}
