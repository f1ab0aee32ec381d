import { readBounds } from '../log-layout.ts'
import { emptyBatch } from '../log-pages.ts'
import type { LogBatch, LogOrigin, ReadQuery } from '../store.ts'
import { toUtf8 } from './entries.ts'

/** What a chunk says of its bytes: see `chunksOf`. */
type Layout = readonly [
  token: number,
  topics: readonly string[],
  topicOf: readonly number[],
  lengths: readonly number[],
]

/** The batch in an answer of the script `READ`: of its events those after `after`, up to the bounds. */
export function toBatch(answer: readonly unknown[], query: ReadQuery): LogBatch {
  const [head, firstRetained, firstLast, layoutBytes, data] = answer as [
    number,
    number,
    number?,
    Uint8Array?,
    Uint8Array?,
  ]
  const first = Math.max(query.after + 1, firstRetained)
  if (!layoutBytes || !data) return emptyBatch(first, head, firstRetained)
  const layouts = JSON.parse(`[${toUtf8(layoutBytes)}]`) as Layout[]
  const { limit, maxBytes } = readBounds(query)
  const offsets = [0]
  const originOf: number[] = []
  const origins: LogOrigin[] = []
  const places = new Map<string, number>()
  let seq = firstLast! - layouts[0]![3].length + 1
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
      const key = `${token} ${topic}`
      let place = places.get(key)
      if (place === undefined) places.set(key, (place = origins.push({ topic, token }) - 1))
      originOf.push(place)
      size += length
      offsets.push(size)
    }
  }
  return {
    first,
    count: originOf.length,
    bytes: new Uint8Array(data.buffer, data.byteOffset + start, size),
    offsets: Uint32Array.from(offsets),
    origins,
    originOf: Uint16Array.from(originOf),
    head,
    firstRetained,
  }
}
