import { MAX_HEAD, writeFrame } from '../../http/index.ts'
import { type Matcher, type Rendering, topicOf } from '../../runs/index.ts'
import type { LogBatch } from '../../storage/index.ts'

/** What a subscription gives its socket: a part of the log, or frames that were made for it alone. */
export interface SocketChunk {
  /** Frames to send before the log. */
  readonly frames?: Uint8Array
  /** The events with their bytes as frames of a web socket. */
  readonly batch?: LogBatch
  readonly wanted?: Matcher
}

interface Encoded {
  readonly source: Uint8Array
  readonly from: number
  readonly to: number
  readonly bytes: Uint8Array
  readonly offsets: Uint32Array
}

/** What was encoded last: readers of one thread mostly read the same part of its log at once. */
const recent: Encoded[] = []
const MAX_RECENT = 16

/** A batch whose events are frames of a web socket. Their JSON is copied out of the frames of SSE, and not parsed. */
function asFrames(batch: LogBatch): LogBatch {
  const { bytes, offsets, count } = batch
  const from = offsets[0]!
  const to = offsets[count]!
  const known = recent.find((one) => one.source === bytes && one.from === from && one.to === to)
  const { bytes: frames, offsets: ends } = known ?? encode(batch, from, to)
  return { ...batch, bytes: frames, offsets: ends }
}

function encode({ bytes: source, offsets: starts, count }: LogBatch, from: number, to: number): Encoded {
  const bytes = new Uint8Array(to - from + MAX_HEAD * count)
  const offsets = new Uint32Array(count + 1)
  for (let i = 0; i < count; i++) {
    offsets[i + 1] = writeFrame(bytes, offsets[i]!, dataOf(source, starts[i]!, starts[i + 1]!))
  }
  const encoded = { source, from, to, bytes, offsets }
  if (recent.push(encoded) > MAX_RECENT) recent.shift()
  return encoded
}

/** Whether the event at an index is wanted, decided once for events of one origin. */
export function chooser({ origins, originOf }: LogBatch, wanted: Matcher): (index: number) => boolean {
  const decided: boolean[] = []
  return (index) => {
    const origin = originOf[index]!
    return (decided[origin] ??= wanted(topicOf(origins[origin]!)))
  }
}

function hasWanted(batch: LogBatch, wanted: Matcher): boolean {
  const isWanted = chooser(batch, wanted)
  for (let i = 0; i < batch.count; i++) if (isWanted(i)) return true
  return false
}

const LINE_FEED = 0x0a
const DATA = 'data: '
/** The first letter of the line of data, and of no line before it. */
const D = 0x64

/** The JSON of one SSE frame: its last line, which two line feeds end. */
function dataOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  let at = from
  while (bytes[at] !== D) at = bytes.indexOf(LINE_FEED, at) + 1
  return bytes.subarray(at + DATA.length, to - 2)
}

function framesOf(frames: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(frames.reduce((size, { length }) => size + length + MAX_HEAD, 0))
  let at = 0
  for (const frame of frames) at = writeFrame(all, at, dataOf(frame, 0, frame.length))
  return all.subarray(0, at)
}

/** How a subscription's events become chunks. `moved` is told how far it has read, where it has no chunk of that. */
export const asChunks = (moved: (seq: number) => void): Rendering<SocketChunk> => ({
  begun: moved,
  frames: (frames) => ({ frames: framesOf(frames) }),
  batch(batch, wanted) {
    if (hasWanted(batch, wanted)) return { batch: asFrames(batch), wanted }
    moved(lastOf(batch))
    return undefined
  },
})

export const lastOf = ({ first, count }: LogBatch): number => first + count - 1
