import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFrameReader } from '../../../../src/ops/devtools/page/model/frames.ts'
import { createClock, createLog, matches } from '../../../../src/ops/devtools/page/model/log.ts'

const encoder = new TextEncoder()
const BOUNDS = { events: 100_000, bytes: 1e9 }

const frameText = (seq: number, method = 'messages', more: object = {}): string => {
  const params = { namespace: [], timestamp: 1_000 + seq, data: {}, ...more }
  return `id: 1-${seq}\nevent: ${method}\ndata: ${JSON.stringify({ type: 'event', event_id: `1-${seq}`, seq, method, params })}\n\n`
}
const frame = (seq: number, method?: string, more?: object) =>
  createFrameReader()(encoder.encode(frameText(seq, method, more)))[0]!

describe('the frame reader', () => {
  test('gives the same frames however the bytes are cut, with the size of each', () => {
    const texts = [
      frameText(1),
      frameText(2, 'custom', { data: 'ü €\n\n' }),
      'event: gap\ndata: {"type":"gap"}\n\n',
    ]
    const bytes = encoder.encode(
      [': ok\n', texts[0], ': heartbeat\n', ': heartbeat\n', texts[1], texts[2]].join(''),
    )
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const read = createFrameReader()
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const frames = places.slice(1).flatMap((to, i) => read(bytes.subarray(places[i], to)))
        expect(frames.map(({ bytes: size }) => size)).toEqual(
          texts.map((text) => encoder.encode(text).length),
        )
        expect(frames.map(({ data }) => `${data}`)).toEqual(
          texts.map((text) => text.split('data: ')[1]!.trimEnd()),
        )
      }),
    )
  })
})

describe('the log', () => {
  test('tells the channel, the pause before and the latency of an event that has just happened', () => {
    const log = createLog(BOUNDS)
    log.add(frame(1))
    log.add(frame(41, 'custom', { data: { name: 'progress' } }), { at: 1_100, openedAt: 1_000 })
    log.add(frame(42, 'input.requested'), { at: 1_100, openedAt: 1_050 })
    expect(log.entries.map(({ channel, sinceLast, latency }) => [channel, sinceLast, latency])).toEqual([
      ['messages', undefined, undefined],
      ['custom:progress', 40, 59],
      // It waited in the log until the stream was opened.
      ['input', 1, undefined],
    ])
  })

  test('takes no event twice, as a stream that was opened again may send it', () => {
    const log = createLog(BOUNDS)
    for (const seq of [1, 2, 2, 1, 3]) log.add(frame(seq))
    expect(log.entries.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(log.last).toBe(3)
  })

  test('keeps the newest events within its bounds, and counts those it has dropped', () => {
    const log = createLog({ events: 5_000, bytes: 1e9 })
    for (let seq = 1; seq <= 12_345; seq++) log.add(frame(seq))
    expect(log.entries.length).toBeLessThanOrEqual(6_000)
    expect(log.entries.length + log.dropped).toBe(12_345)
    expect(log.entries.at(-1)!.seq).toBe(12_345)
    const small = createLog({ events: 5_000, bytes: 10_000 })
    for (let seq = 1; seq <= 300; seq++) small.add(frame(seq, 'values', { data: 'x'.repeat(500) }))
    expect(small.bytes).toBeLessThanOrEqual(10_000)
    expect(small.bytes).toBe(small.entries.reduce((sum, { bytes }) => sum + bytes, 0))
  })

  test('shows where events are gone', () => {
    const log = createLog(BOUNDS)
    log.add(frame(1))
    log.add({ data: '{"type":"gap","after":1,"first_retained":9}', bytes: 40 })
    log.add(frame(9))
    expect(log.entries.map(({ seq, method, kind }) => [seq, method, kind])).toEqual([
      [1, 'messages', ''],
      [8, 'gap', '7 events are gone'],
      [9, 'messages', ''],
    ])
  })

  test('filters by channels and by a namespace with those below it', () => {
    const log = createLog(BOUNDS)
    log.add(frame(1, 'messages', { namespace: ['tools:1'] }))
    log.add(frame(2, 'values', { namespace: ['tools:1', 'model:2'] }))
    log.add(frame(3, 'values', { namespace: ['tools:12'] }))
    const seqs = (channels: string[], namespace: string) =>
      log.entries
        .filter((entry) => matches({ channels: new Set(channels), namespace, hidesMiddleware: false }, entry))
        .map(({ seq }) => seq)
    expect(seqs([], '')).toEqual([1, 2, 3])
    expect(seqs(['values'], '')).toEqual([2, 3])
    expect(seqs([], 'tools:1')).toEqual([1, 2])
    expect(seqs(['values'], 'tools:1 › model:2')).toEqual([2])
  })
})

test('the clock takes the answer that was quickest on its way', () => {
  const clock = createClock()
  expect(clock.toServer(5)).toBe(undefined)
  clock.note(1_000, 1_400, 9_000)
  expect(clock.toServer(1_200)).toBe(9_000)
  clock.note(2_000, 2_010, 10_105)
  clock.note(3_000, 3_500, 1)
  expect(clock.toServer(2_005)).toBe(10_105)
})
