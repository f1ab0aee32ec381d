import { emptyBatch } from '../log-pages.ts'
import type { LogBatch, LogEvent, LogOrigin, ReadQuery } from '../store.ts'
import { bytesOf, type Row } from './driver.ts'

/** What a row of the log says of its bytes: the writer's token, the distinct topics, and each event's topic and length. */
type Layout = readonly [
  token: number,
  topics: readonly string[],
  topicOf: readonly number[],
  lengths: readonly number[],
]

export interface Chunk {
  readonly count: number
  readonly layout: string
  readonly data: Uint8Array
}

/** Bounds of one row, so that a small read of a large append stays small. */
const CHUNK_BYTES = 65_536
const CHUNK_EVENTS = 1_000
const DEFAULT_LIMIT = 1_000
const DEFAULT_BYTES = 65_536
/** Places of origins are 16 bits wide. */
const MAX_LIMIT = 65_535

/** The rows that an append makes. */
export function* chunksOf(token: number, events: readonly LogEvent[]): Generator<Chunk> {
  for (let at = 0; at < events.length; ) {
    const start = at
    const topics = new Map<string, number>()
    const topicOf: number[] = []
    const lengths: number[] = []
    let bytes = 0
    while (at < events.length && at - start < CHUNK_EVENTS) {
      const { topic, data } = events[at]!
      if (bytes > 0 && bytes + data.length > CHUNK_BYTES) break
      let place = topics.get(topic)
      if (place === undefined) topics.set(topic, (place = topics.size))
      topicOf.push(place)
      lengths.push(data.length)
      bytes += data.length
      at += 1
    }
    const layout: Layout = [token, [...topics.keys()], topicOf, lengths]
    const data = join(events.slice(start, at), bytes)
    yield { count: at - start, layout: JSON.stringify(layout), data }
  }
}

function join(events: readonly LogEvent[], size: number): Uint8Array {
  if (events.length === 1) return events[0]!.data
  const whole = new Uint8Array(size)
  let at = 0
  for (const { data } of events) {
    whole.set(data, at)
    at += data.length
  }
  return whole
}

export function readBounds({ limit = DEFAULT_LIMIT, maxBytes = DEFAULT_BYTES }: ReadQuery) {
  return {
    limit: Math.min(Math.max(Math.floor(limit), 1), MAX_LIMIT),
    maxBytes: Math.max(Math.floor(maxBytes), 1),
  }
}

/** From rows in order, each with `first`, `layout` and `data`, the events after `after`, up to the bounds. */
export function toBatch(
  rows: readonly Row[],
  query: ReadQuery,
  head: number,
  firstRetained: number,
): LogBatch {
  const first = Math.max(query.after + 1, firstRetained)
  if (rows.length === 0) return emptyBatch(first, head, firstRetained)
  const { limit, maxBytes } = readBounds(query)
  const offsets = [0]
  const originOf: number[] = []
  const origins: LogOrigin[] = []
  const places = new Map<string, number>()
  const parts: Uint8Array[] = []
  let size = 0
  for (const row of rows) {
    const [token, topics, topicOf, lengths] = JSON.parse(row.layout as string) as Layout
    let seq = Number(row.first)
    let start = 0
    let end = 0
    for (let i = 0; i < lengths.length; i++, seq++) {
      const length = lengths[i]!
      if (seq < first) {
        start = end += length
        continue
      }
      if (originOf.length === limit || (originOf.length > 0 && size + length > maxBytes)) break
      const topic = topics[topicOf[i]!]!
      const key = `${token} ${topic}`
      let place = places.get(key)
      if (place === undefined) places.set(key, (place = origins.push({ topic, token }) - 1))
      originOf.push(place)
      end += length
      size += length
      offsets.push(size)
    }
    if (end > start) parts.push(bytesOf(row.data).subarray(start, end))
    if (seq < Number(row.first) + lengths.length) break
  }
  return {
    first,
    count: originOf.length,
    bytes: parts.length === 1 ? parts[0]! : concat(parts, size),
    offsets: Uint32Array.from(offsets),
    origins,
    originOf: Uint16Array.from(originOf),
    head,
    firstRetained,
  }
}

function concat(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
