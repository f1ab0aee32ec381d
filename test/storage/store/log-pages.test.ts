import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  appendEvents,
  createLog,
  dropOldestPage,
  type EventLog,
  keepLast,
  readEvents,
} from '../../../src/storage/store/log-pages.ts'
import type { LogEvent } from '../../../src/storage/store/store.ts'

fc.configureGlobal({ seed: 1 })

const encoder = new TextEncoder()

interface Seen {
  readonly seq: number
  readonly topic: string
  readonly token: number
  readonly size: number
  readonly mark: number
}

function readAll(log: EventLog, query: { after: number; limit?: number; maxBytes?: number }): Seen[] {
  const seen: Seen[] = []
  let { after } = query
  for (;;) {
    const batch = readEvents(log, { ...query, after })
    if (batch.count === 0) return seen
    expect(batch.offsets.length).toBe(batch.count + 1)
    expect(batch.originOf.length).toBe(batch.count)
    for (let i = 0; i < batch.count; i++) {
      const data = batch.bytes.subarray(batch.offsets[i], batch.offsets[i + 1])
      const origin = batch.origins[batch.originOf[i]!]!
      const mark = data.length === 0 ? 0 : data[0]!
      expect(data.length === 0 || data.indexOf(mark) + data.lastIndexOf(mark) === data.length - 1).toBe(true)
      seen.push({ seq: batch.first + i, ...origin, size: data.length, mark })
    }
    after = batch.first + batch.count - 1
  }
}

const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 400 }) },
  { weight: 2, arbitrary: fc.integer({ min: 400, max: 9_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 140_000 }) },
)
const appends = fc.array(
  fc.record({
    token: fc.integer({ min: 1, max: 3 }),
    events: fc.array(fc.record({ topic: fc.constantFrom('a', 'b', 'c', '__proto__'), size }), {
      maxLength: 30,
    }),
  }),
  { maxLength: 25 },
)

test('reads back what was appended, from anywhere, in batches of any size', () => {
  fc.assert(
    fc.property(
      appends,
      fc.nat(),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 200_000 }),
      (commits, from, limit, maxBytes) => {
        const log = createLog(0, 2 ** 24)
        const wanted: Seen[] = []
        for (const { token, events } of commits) {
          const encoded = events.map(({ topic, size }, i): LogEvent & Seen => {
            const seq = wanted.length + i + 1
            const mark = size === 0 ? 0 : seq % 256
            return { topic, data: new Uint8Array(size).fill(mark), seq, token, size, mark }
          })
          appendEvents(log, token, encoded, 0)
          wanted.push(...encoded.map(({ data: _, ...seen }) => seen))
        }
        expect(log.head).toBe(wanted.length)
        const after = wanted.length === 0 ? 0 : from % wanted.length
        expect(readAll(log, { after, limit, maxBytes })).toEqual(wanted.slice(after))
        expect(readAll(log, { after: 0 })).toEqual(wanted)
      },
    ),
    { numRuns: 40 },
  )
})

test('knows what it occupies, and gives it back when pages are dropped', () => {
  fc.assert(
    fc.property(appends, (commits) => {
      const log = createLog(0, 2 ** 24)
      for (const { token, events } of commits) {
        appendEvents(
          log,
          token,
          events.map(({ topic, size }) => ({ topic, data: new Uint8Array(size) })),
          0,
        )
      }
      const arrays = log.pages.flatMap(({ bytes, offsets, originOf }) => [bytes, offsets, originOf])
      const occupied = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
      expect(log.bytes).toBeGreaterThanOrEqual(occupied)
      expect(log.bytes - occupied).toBeLessThanOrEqual(log.pages.length * 1000)
      while (log.pages.length > 0) dropOldestPage(log)
      expect(log.bytes).toBe(0)
      expect(log.firstRetained).toBe(log.head + 1)
    }),
    { numRuns: 20 },
  )
})

test('counts the places of many small events', () => {
  const log = createLog(0, 2 ** 24)
  const events = Array.from({ length: 4_000 }, () => ({ topic: 't', data: new Uint8Array(1) }))
  appendEvents(log, 1, events, 0)
  const arrays = log.pages.flatMap(({ bytes, offsets, originOf }) => [bytes, offsets, originOf])
  const occupied = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
  expect(log.bytes - occupied).toBe(log.pages.length * 640)
  expect(occupied).toBeGreaterThan(6 * 4_000)
})

test('gives views on its pages and copies nothing', () => {
  const log = createLog(0, 2 ** 24)
  const events = Array.from({ length: 3 }, () => ({ topic: 't', data: encoder.encode('event') }))
  appendEvents(log, 1, events, 0)
  const one = readEvents(log, { after: 0 })
  const two = readEvents(log, { after: 1 })
  expect(one.bytes.buffer).toBe(two.bytes.buffer)
  expect(one.offsets.buffer).toBe(two.offsets.buffer)
  expect(one.origins[one.originOf[0]!]).toBe(two.origins[two.originOf[0]!])
})

test('keeps a batch as it was when it was read', () => {
  const log = createLog(0, 2 ** 24)
  const event = (mark: number) => ({ topic: `t${mark}`, data: new Uint8Array(200).fill(mark) })
  appendEvents(log, 1, [event(1), event(2)], 0)
  const batch = readEvents(log, { after: 0 })
  const look = () =>
    Array.from({ length: batch.count }, (_, i) => [
      batch.bytes[batch.offsets[i]!],
      batch.offsets[i + 1],
      batch.origins[batch.originOf[i]!]!.topic,
    ])
  const before = look()
  for (let mark = 3; mark < 2000; mark++) appendEvents(log, mark, [event(mark % 256)], 0)
  keepLast(log, 1)
  expect(look()).toEqual(before)
})

test('starts small, grows to pages of 64 KiB, and wastes at most an eighth of a closed page', () => {
  const log = createLog(0, 2 ** 24)
  appendEvents(log, 1, [{ topic: 't', data: new Uint8Array(100) }], 0)
  expect(log.bytes).toBeLessThanOrEqual(2048)
  for (let i = 0; i < 3000; i++) {
    appendEvents(log, 1, [{ topic: 't', data: new Uint8Array(i % 7 === 0 ? 40_000 : 300) }], 0)
  }
  for (const page of log.pages.slice(0, -1)) {
    expect(page.bytes.length).toBeLessThanOrEqual(65_536)
    expect(page.bytes.length - page.used).toBeLessThanOrEqual(page.bytes.length / 8)
    expect(page.offsets.length).toBe(page.count + 1)
  }
})

test('lets a dropped page go, although its topics are still known', () => {
  const log = createLog(0, 2 ** 24)
  appendEvents(log, 1, [{ topic: 'once', data: new Uint8Array(60_000) }], 0)
  const page = new WeakRef(log.pages[0]!)
  for (let i = 0; i < 100; i++) appendEvents(log, 1, [{ topic: 'often', data: new Uint8Array(3000) }], 0)
  while (log.pages.length > 1) dropOldestPage(log)
  expect(log.topics.has('once')).toBe(true)
  expect([...log.topics.values()].some((interned) => Object.values(interned).includes(page.deref()))).toBe(
    false,
  )
})
