import { emptyBatch } from '../log-pages.ts'
import type { LogBatch, LogEvent, LogOrigin, ReadQuery } from '../store.ts'
import type { Row } from './database.ts'

/**
 * What a row of `events` says of its bytes: the writer's token, the distinct topics, and for each event its topic's place
 * among them and its length.
 */
type Layout = readonly [
  token: number,
  topics: readonly string[],
  topicOf: readonly number[],
  lengths: readonly number[],
]

interface Chunk {
  readonly count: number
  readonly bytes: number
  readonly layout: string
}

/** Bounds of one row, so that a small read of a large append stays small. */
const CHUNK_BYTES = 65_536
const CHUNK_EVENTS = 1_000
const DEFAULT_LIMIT = 1_000
const DEFAULT_BYTES = 65_536
/** Places of origins are 16 bits wide. */
const MAX_LIMIT = 65_535

/** The rows that an append makes. */
export function chunksOf(token: number, events: readonly LogEvent[]): Chunk[] {
  const chunks: Chunk[] = []
  for (let at = 0; at < events.length; ) {
    const topics = new Map<string, number>()
    const topicOf: number[] = []
    const lengths: number[] = []
    let bytes = 0
    while (at < events.length && lengths.length < CHUNK_EVENTS) {
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
    chunks.push({ count: lengths.length, bytes, layout: JSON.stringify(layout) })
  }
  return chunks
}

/** What the function `read` is asked for. */
export function readBounds({ limit = DEFAULT_LIMIT, maxBytes = DEFAULT_BYTES }: ReadQuery) {
  return { limit: Math.min(Math.max(Math.floor(limit), 1), MAX_LIMIT), maxBytes: Math.max(maxBytes, 1) }
}

/** The batch in a row of the function `read`: of its events those after `after`, up to the bounds. */
export function toBatch(row: Row, query: ReadQuery): LogBatch {
  const head = Number(row.head ?? 0)
  const firstRetained = Number(row.first_retained ?? 1)
  if (row.layouts === null || row.layouts === undefined) {
    return emptyBatch(Math.max(query.after + 1, firstRetained), head, firstRetained)
  }
  const first = Math.max(query.after + 1, firstRetained)
  const skipped = first - Number(row.first)
  const { start, offsets, originOf, origins } = pick(JSON.parse(`[${row.layouts}]`), skipped, query)
  const bytes = Buffer.from(row.data!.slice(2 * start, 2 * (start + offsets.at(-1)!)), 'hex')
  return {
    first,
    count: originOf.length,
    bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    offsets: Uint32Array.from(offsets),
    origins,
    originOf: Uint16Array.from(originOf),
    head,
    firstRetained,
  }
}

interface Picked {
  /** Where the bytes of the first one begin. */
  readonly start: number
  readonly offsets: readonly number[]
  readonly originOf: readonly number[]
  readonly origins: readonly LogOrigin[]
}

/** The events after the first `skipped`, up to the bounds. */
function pick(layouts: readonly Layout[], skipped: number, query: ReadQuery): Picked {
  const { limit, maxBytes } = readBounds(query)
  const offsets = [0]
  const originOf: number[] = []
  const origins: LogOrigin[] = []
  const places = new Map<string, number>()
  let start = 0
  let passed = 0
  for (const [token, topics, topicOf, lengths] of layouts) {
    for (let i = 0; i < lengths.length; i++) {
      const length = lengths[i]!
      if (passed < skipped) {
        passed += 1
        start += length
        continue
      }
      const end = offsets.at(-1)! + length
      const isFull = originOf.length === limit || (originOf.length > 0 && end > maxBytes)
      if (isFull) return { start, offsets, originOf, origins }
      const topic = topics[topicOf[i]!]!
      const key = `${token} ${topic}`
      let place = places.get(key)
      if (place === undefined) {
        place = origins.push({ topic, token }) - 1
        places.set(key, place)
      }
      offsets.push(end)
      originOf.push(place)
    }
  }
  return { start, offsets, originOf, origins }
}
