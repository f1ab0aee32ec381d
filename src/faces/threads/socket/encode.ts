import { concatBytes } from '../../../core/bytes.ts'
import { frameOf, writeHead } from '../../../core/http/index.ts'
import {
  jsonBytes,
  jsonEnd,
  jsonStart,
  type Matcher,
  type Rendering,
  selectBytes,
  topicOf,
} from '../../../engine/index.ts'
import type { LogBatch } from '../../../storage/index.ts'

/**
 * What a subscription passes to its socket: a part of the log, or frames created only for this subscription.
 */
export interface SocketChunk {
  /** Frames to send before the log. */
  readonly frames?: Uint8Array
  /** The events with their bytes as web socket frames. */
  readonly batch?: LogBatch
  readonly wanted?: Matcher
}

interface Encoded {
  readonly source: Uint8Array
  readonly from: number
  readonly to: number
  /** The same events, shared by all sockets that read them. */
  readonly batch: LogBatch
}

/**
 * The batches that were encoded last, newest first: readers of one thread usually read the same part of its
 * log at once.
 */
const recent: Encoded[] = []
/** The maximum size of these batches, in bytes. */
const MAX_RECENT = 1024 * 1024

/** A batch with its events as web socket frames. Their JSON is copied from the SSE frames without parsing. */
function asFrames(batch: LogBatch): LogBatch {
  const { bytes, offsets, count } = batch
  const from = offsets[0]!
  const to = offsets[count]!
  for (const known of recent)
    if (known.source === bytes && known.from === from && known.to === to) return known.batch
  const encoded = { ...batch, ...encode(batch, from, to) }
  recent.unshift({ source: bytes, from, to, batch: encoded })
  let kept = 0
  const enough = recent.findIndex((one) => (kept += one.to - one.from) > MAX_RECENT)
  if (enough >= 0) recent.length = Math.max(1, enough)
  return encoded
}

/**
 * A web socket frame is shorter than the SSE frame with the same JSON, so all frames are written into one
 * copy of the SSE bytes, from its start.
 */
function encode(
  { bytes: source, offsets: starts, count }: LogBatch,
  from: number,
  to: number,
): Pick<LogBatch, 'bytes' | 'offsets'> {
  const bytes = source.slice(from, to)
  const offsets = new Uint32Array(count + 1)
  let at = 0
  for (let i = 0; i < count; i++) {
    const start = jsonStart(source, starts[i]!)
    const end = jsonEnd(starts[i + 1]!)
    const text = writeHead(bytes, at, end - start)
    bytes.copyWithin(text, start - from, end - from)
    at = text + end - start
    offsets[i + 1] = at
  }
  return { bytes: bytes.subarray(0, at), offsets }
}

/** Whether the event at an index is wanted. Decided once for events with the same origin. */
export function chooser({ origins, originOf }: LogBatch, wanted: Matcher): (index: number) => boolean {
  const decided: boolean[] = []
  return (index) => {
    const origin = originOf[index]!
    return (decided[origin] ??= wanted(topicOf(origins[origin]!)))
  }
}

function hasMatch(batch: LogBatch, wanted: Matcher): boolean {
  const isWanted = chooser(batch, wanted)
  for (let i = 0; i < batch.count; i++) if (isWanted(i)) return true
  return false
}

const framesOf = (frames: readonly Uint8Array[]): Uint8Array =>
  concatBytes(frames.map((frame) => frameOf(jsonBytes(frame))))

/**
 * Converts a subscription's events to chunks. `moved` is called with the position that was read, if there is
 * no chunk for it.
 */
export const asChunks = (moved: (seq: number) => void): Rendering<SocketChunk> => ({
  begun: moved,
  frames: (frames) => ({ frames: framesOf(frames) }),
  batch(batch, wanted) {
    if (hasMatch(batch, wanted)) return { batch: asFrames(batch), wanted }
    moved(lastOf(batch))
    return undefined
  },
})

export const lastOf = ({ first, count }: LogBatch): number => first + count - 1

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
