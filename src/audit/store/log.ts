import { type Checks, claim, refused, rulesOf, same } from '../check.ts'
import {
  append,
  clear,
  event,
  headIs,
  LONG,
  put,
  readAll,
  SHORT,
  type StoreContext,
  seqsIn,
  take,
  textsIn,
} from './rule.ts'

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const NAMES = {
  'log.numbered': 'numbers events from 1 without gaps, and keeps the bytes, topic and token of each',
  'log.bytes': 'keeps every byte value, and either copies its input or never changes it',
  'log.batches': 'reads the same events from any position, in batches of any size',
  'log.batch-bounds': 'respects the limits of a batch, but always returns at least one event',
  'log.at-the-head': 'returns an empty batch at the head, beyond it, and for a log that does not exist',
  'log.concurrent': 'keeps concurrent appends contiguous, without duplicate or missing numbers',
  'log.reader-behind-writer': 'gives a concurrent reader every event once and in order',
  'log.head-guard': 'passes a head guard only for the last number, and for one of several concurrent commits',
  'log.trim-keep-last': 'keeps the last events in a trim by count, and reports the gap',
  'log.trim-older-than': 'drops only events older than requested in a trim by age',
  'log.clear': 'drops documents, log and lease in a clear, but never reuses a number or token',
  'log.many-topics': 'keeps thousands of distinct topics separate',
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'log.numbered'({ store, partition, commit }) {
    const commits = [
      { token: 3, events: [event('a', 'x'), event('', 'y'), event('é\u0000🙂', 'x')] },
      { token: 3, events: [] },
      { token: 9, events: [event('b', ''), event('x'.repeat(200_000), 'odd "topic"\n')] },
      { token: 3, events: [event('late', 'x')] },
    ]
    const heads: number[] = []
    for (const { token, events } of commits) {
      heads.push((await commit({ op: 'append', token, events })).head)
    }
    same(heads, [3, 3, 5, 6], 'heads')
    const events = await readAll(store, partition)
    const wanted = commits
      .flatMap(({ token, events }) => events.map(({ topic, data }) => ({ topic, token, data })))
      .map(({ data, ...rest }, i) => ({ seq: i + 1, text: new TextDecoder().decode(data), ...rest }))
    same(events, wanted, 'the events')
    const { head, firstRetained } = await store.inspect(partition)
    same([head, firstRetained], [6, 1], 'head and first retained')
  },
  async 'log.bytes'({ store, partition, commit }) {
    const data = Uint8Array.from(numbers(0, 255))
    const padded = new Uint8Array(300)
    padded.set(data, 10)
    const view = padded.subarray(10, 266)
    await commit(
      { op: 'append', token: 1, events: [{ topic: 't', data: view }] },
      { op: 'append', token: 1, events: [{ topic: 't', data }] },
    )
    const batch = await store.read(partition, { after: 0 })
    const given = batch.bytes.subarray(batch.offsets[0], batch.offsets[1])
    same([...given], [...data], 'the bytes')
    same([...padded.subarray(0, 10), ...padded.subarray(266)], Array(44).fill(0), 'the bytes around a view')
  },
  async 'log.batches'({ store, partition, commit }) {
    const texts = numbers(1, 300).map((n) => `${n} ${'x'.repeat((n * 37) % 900)}`)
    for (let i = 0; i < texts.length; i += 30) {
      await commit(append(1, ...texts.slice(i, i + 30)))
    }
    for (const limit of [undefined, 1, 7, 1000])
      same(await textsIn(store, partition, limit ? { limit } : {}), texts, `read with a limit of ${limit}`)
    for (const maxBytes of [1, 2000])
      same(await textsIn(store, partition, { maxBytes }), texts, `read with at most ${maxBytes} bytes`)
    for (const after of [0, 1, 17, 150, 298, 299])
      same(await seqsIn(store, partition, { after }), numbers(after + 1, 300), `read after ${after}`)
  },
  async 'log.batch-bounds'({ store, partition, commit }) {
    await commit(append(1, 'x'.repeat(90_000), ...numbers(1, 50).map(() => 'y'.repeat(100))))
    same((await store.read(partition, { after: 0, maxBytes: 10 })).count, 1, 'an event above the bound')
    same((await store.read(partition, { after: 1, limit: 1 })).count, 1, 'a limit of one')
    const { count } = await store.read(partition, { after: 1, limit: 20 })
    claim(count >= 1 && count <= 20, `at most 20 events: ${count}`)
    const batch = await store.read(partition, { after: 1, maxBytes: 1000 })
    const bytes = batch.offsets[batch.count]! - batch.offsets[0]!
    claim(batch.count >= 1 && bytes <= 1000, `at most 1,000 bytes: ${bytes}`)
  },
  async 'log.at-the-head'({ store, partition, commit, unique }) {
    await commit(append(1, 'a', 'b'))
    for (const after of [2, 3, 1000]) {
      const { count, head, firstRetained } = await store.read(partition, { after })
      same([count, head, firstRetained], [0, 2, 1], `read after ${after}`)
    }
    const never = unique()
    const { count, head, firstRetained } = await store.read(never, { after: 0 })
    same([count, head, firstRetained], [0, 0, 1], 'read of a log that never was')
    const state = await store.inspect(never)
    same([state.head, state.firstRetained, state.lease], [0, 1, undefined], 'its state')
  },
  async 'log.concurrent'({ store, partition, commit }) {
    const batches = numbers(1, 20).map((n) => numbers(1, 5).map((i) => `${n}.${i}`))
    const done = await Promise.all(batches.map((texts) => commit(append(1, ...texts))))
    same(await seqsIn(store, partition), numbers(1, 100), 'the numbers')
    const texts = await textsIn(store, partition)
    for (const [i, { head }] of done.entries())
      same(texts.slice(head - 5, head), batches[i], `the events up to ${head}`)
  },
  async 'log.reader-behind-writer'({ store, partition, commit }) {
    const writing = (async () => {
      for (let n = 1; n <= 60; n++) await commit(append(1, ...Array(n % 4).fill(`${n}`)))
      await commit(append(1, 'end'))
    })()
    const seen: number[] = []
    let last = ''
    while (last !== 'end') {
      for (const { seq, text } of await readAll(store, partition, { after: seen.length })) {
        seen.push(seq)
        last = text
      }
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    await writing
    same(seen, numbers(1, 91), 'the numbers')
  },
  async 'log.head-guard'({ store, partition, commitIf }) {
    const at = (seq: number, text: string) => commitIf([headIs(seq)], append(1, text))
    await at(0, 'a')
    await refused(at(0, 'b'), 'ConflictError', 'a head gone by')
    await refused(at(2, 'b'), 'ConflictError', 'a head to come')
    const race = await Promise.allSettled(numbers(1, 8).map((n) => at(1, `racer ${n}`)))
    same(race.filter(({ status }) => status === 'fulfilled').length, 1, 'winners')
    same((await store.inspect(partition)).head, 2, 'the head')
  },
  async 'log.trim-keep-last'({ store, partition, commit }) {
    await commit(append(1, ...numbers(1, 50).map(String)), put('c', 'doc'))
    await store.trim(partition, { keepLast: 100 })
    same((await readAll(store, partition)).length, 50, 'events after a trim to more than there are')
    await store.trim(partition, { keepLast: 20 })
    const batch = await store.read(partition, { after: 0 })
    same([batch.first, batch.firstRetained, batch.head], [31, 31, 50], 'the batch over the gap')
    same(await textsIn(store, partition), numbers(31, 50).map(String), 'what is left')
    same((await readAll(store, partition, { after: 40 })).length, 10, 'a read above the gap')
    await store.trim(partition, { keepLast: 0 })
    const empty = await store.read(partition, { after: 0 })
    same([empty.count, empty.firstRetained, empty.head], [0, 51, 50], 'after a trim of all')
    same((await commit(append(1, 'next'))).head, 51, 'the next number')
    same(await seqsIn(store, partition), [51], 'the log')
    claim((await store.get(partition, 'c', 'doc')) !== undefined, 'a trim keeps documents')
  },
  async 'log.trim-older-than'({ store, partition, commit, pass }) {
    await commit(append(1, ...numbers(1, 20).map(() => 'x'.repeat(1000))))
    await store.trim(partition, { olderThanMs: LONG })
    same((await readAll(store, partition)).length, 20, 'young events')
    await pass(SHORT + 1)
    await store.trim(partition, { olderThanMs: SHORT })
    const { count, head, firstRetained } = await store.read(partition, { after: 0 })
    same([count, head, firstRetained], [0, 20, 21], 'old events')
    same((await commit(append(1, 'next'))).head, 21, 'the next number')
  },
  async 'log.clear'({ store, partition, commit, unique }) {
    const collection = unique()
    await commit(
      take(700, LONG, 'a'),
      append(700, 'a', 'b', 'c'),
      put(collection, 'd', 1, { index: { k: 1 } }),
      put(unique(), 'e', 1, { ttlMs: LONG }),
    )
    same((await commit(clear)).head, 3, 'the head of the clear')
    const { head, firstRetained, token, lease } = await store.inspect(partition)
    same([head, firstRetained, token, lease], [3, 4, 700, undefined], 'what is left')
    same(await store.get(partition, collection, 'd'), undefined, 'the document')
    same((await store.list(collection)).docs, [], 'the list')
    const batch = await store.read(partition, { after: 0 })
    same([batch.count, batch.head, batch.firstRetained], [0, 3, 4], 'the log')
    const again = (claimed: number) => commit(take(claimed, LONG, 'b'))
    await refused(again(700), 'ConflictError', 'a token issued before')
    await again(701)
    same((await commit(append(701, 'd'))).head, 4, 'the next number')
    same(await readAll(store, partition), [{ seq: 4, text: 'd', topic: 'topic', token: 701 }], 'the new log')
    const both = await commit(clear, append(701, 'e'), put('c', 'f'))
    same([both.head, both.versions.length], [5, 1], 'ops after a clear in the same commit')
    same(await textsIn(store, partition), ['e'], 'the log after it')
  },
  async 'log.many-topics'({ store, partition, commit }) {
    const events = numbers(1, 5000).map((n) => event(`${n}`, `topic ${n}`))
    await commit({ op: 'append', token: 1, events })
    const wrong = (await readAll(store, partition)).find(({ text, topic }) => topic !== `topic ${text}`)
    same(wrong, undefined, 'an event under another topic')
    same((await store.inspect(partition)).head, 5000, 'the head')
  },
}

export const logRules = /* @__PURE__ */ rulesOf(NAMES, checks)
