import { concatBytes } from '../../bytes.ts'
import { selectBytes } from '../../runs/index.ts'
import { chooser, lastOf, type SocketChunk } from './encode.ts'

/** One subscription of a socket, as far as it has read the log. */
export interface Source {
  /** All its events up to this sequence number are sent or in `chunk`. -1 until it has found its place in the log. */
  known: number
  /** What it has read and not sent. */
  chunk: SocketChunk | undefined
  /** The index of the chunk's next event. */
  next: number
}

export const newSource = (): Source => ({ known: -1, chunk: undefined, next: 0 })

/** Gives a source what it has read next. */
export function fill(source: Source, chunk: SocketChunk): void {
  source.chunk = chunk
  source.next = 0
  if (chunk.batch) source.known = lastOf(chunk.batch)
}

/**
 * The frames that a socket may send now, or undefined: the events of all its subscriptions in the order of the log, each once,
 * because the client gives an event to every subscription that wants it. One that is behind is served alone until it has come up
 * with the others, as an event must not overtake those before it.
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
  const until = Math.min(...sources.map(({ known }) => known))
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
