import { concatBytes } from '../../core/bytes.ts'
import { emptyBatch } from './log-pages.ts'
import type { LogBatch, LogEvent, LogOrigin, ReadQuery } from './store.ts'

/**
 * Databases store a log in chunks. A chunk has the bytes of some events of one append, and a layout: the
 * writer's token, the distinct topics, and for each event the index of its topic and its length.
 */
export type Layout = readonly [
  token: number,
  topics: readonly string[],
  topicOf: readonly number[],
  lengths: readonly number[],
]

export interface Chunk {
  readonly count: number
  /** A `Layout` as JSON. */
  readonly layout: string
  readonly data: Uint8Array
}

/** Limits of one chunk, so that a small read of a large append stays small. */
const CHUNK_BYTES = 65_536
const CHUNK_EVENTS = 1_000
const DEFAULT_LIMIT = 1_000
const DEFAULT_BYTES = 65_536
/** Origin indexes are 16 bits wide. */
const MAX_LIMIT = 65_535

export function chunksOf(token: number, events: readonly LogEvent[]): Chunk[] {
  const chunks: Chunk[] = []
  for (let at = 0; at < events.length; ) {
    const topics = new Map<string, number>()
    const topicOf: number[] = []
    const lengths: number[] = []
    const parts: Uint8Array[] = []
    let bytes = 0
    while (at < events.length && parts.length < CHUNK_EVENTS) {
      const { topic, data } = events[at]!
      if (bytes > 0 && bytes + data.length > CHUNK_BYTES) break
      let place = topics.get(topic)
      if (place === undefined) topics.set(topic, (place = topics.size))
      topicOf.push(place)
      lengths.push(data.length)
      parts.push(data)
      bytes += data.length
      at += 1
    }
    const layout: Layout = [token, [...topics.keys()], topicOf, lengths]
    chunks.push({ count: parts.length, layout: JSON.stringify(layout), data: concatBytes(parts) })
  }
  return chunks
}

/**
 * The batch that a read would return for the events that one commit has appended after `before`. `originFor`
 * returns the same origin for the same topic, because readers decide once for each origin.
 */
export function batchOf(
  events: readonly LogEvent[],
  before: number,
  originFor: (topic: string) => LogOrigin,
): LogBatch {
  const offsets = new Uint32Array(events.length + 1)
  const originOf = new Uint16Array(events.length)
  const origins: LogOrigin[] = []
  const places = new Map<string, number>()
  for (const [i, { topic, data }] of events.entries()) {
    let place = places.get(topic)
    if (place === undefined) places.set(topic, (place = origins.push(originFor(topic)) - 1))
    originOf[i] = place
    offsets[i + 1] = offsets[i]! + data.length
  }
  const bytes = concatBytes(events.map(({ data }) => data))
  const count = events.length
  return {
    first: before + 1,
    count,
    bytes,
    offsets,
    origins,
    originOf,
    head: before + count,
    firstRetained: 1,
  }
}

export function readBounds({ limit = DEFAULT_LIMIT, maxBytes = DEFAULT_BYTES }: ReadQuery) {
  return {
    limit: Math.min(Math.max(Math.floor(limit), 1), MAX_LIMIT),
    maxBytes: Math.max(Math.floor(maxBytes), 1),
  }
}

/** The result of reading a log: consecutive chunks, if any, of which the first starts with event `first`. */
export interface Found {
  readonly head: number
  readonly firstRetained: number
  readonly first: number
  readonly layouts: readonly Layout[]
  /** A part of all bytes of the chunks. */
  bytes(start: number, end: number): Uint8Array
}

/** The found events after `after`, up to the limits. */
export function toBatch({ head, firstRetained, layouts, ...found }: Found, query: ReadQuery): LogBatch {
  const first = Math.max(query.after + 1, firstRetained)
  if (layouts.length === 0) return emptyBatch(first, head, firstRetained)
  const { limit, maxBytes } = readBounds(query)
  const offsets = [0]
  const originOf: number[] = []
  const origins: LogOrigin[] = []
  const places = new Map<string, number>()
  // Most events have the same origin as the previous one.
  let origin: LogOrigin | undefined
  let place = 0
  let seq = found.first
  let start = 0
  let size = 0
  let isFull = false
  for (const [token, topics, topicOf, lengths] of layouts) {
    for (let i = 0; i < lengths.length && !isFull; i++, seq++) {
      const length = lengths[i]!
      if (seq < first) {
        start += length
        continue
      }
      isFull = originOf.length === limit || (originOf.length > 0 && size + length > maxBytes)
      if (isFull) break
      const topic = topics[topicOf[i]!]!
      if (origin?.topic !== topic || origin.token !== token) {
        const key = `${token} ${topic}`
        const known = places.get(key)
        place = known ?? origins.push({ topic, token }) - 1
        if (known === undefined) places.set(key, place)
        origin = origins[place]
      }
      originOf.push(place)
      size += length
      offsets.push(size)
    }
    if (isFull) break
  }
  return {
    first,
    count: originOf.length,
    bytes: found.bytes(start, start + size),
    offsets: Uint32Array.from(offsets),
    origins,
    originOf: Uint16Array.from(originOf),
    head,
    firstRetained,
  }
}
