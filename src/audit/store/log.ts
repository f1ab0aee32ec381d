import { claim, refused, same } from './claims.ts'
import { append, event, LONG, put, readAll, SHORT, type StoreRule } from './rule.ts'

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

export const logRules: readonly StoreRule[] = [
  {
    id: 'log.numbered',
    name: 'numbers events from 1 without holes, and keeps bytes, topic and token of each',
    async check({ store, partition }) {
      const commits = [
        { token: 3, events: [event('a', 'x'), event('', 'y'), event('é\u0000🙂', 'x')] },
        { token: 3, events: [] },
        { token: 9, events: [event('b', ''), event('x'.repeat(200_000), 'odd "topic"\n')] },
        { token: 3, events: [event('late', 'x')] },
      ]
      const heads: number[] = []
      for (const { token, events } of commits) {
        heads.push((await store.commit(partition, { ops: [{ op: 'append', token, events }] })).head)
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
  },
  {
    id: 'log.bytes',
    name: 'keeps every byte value, and copies what it was given or never changes it',
    async check({ store, partition }) {
      const data = Uint8Array.from(numbers(0, 255))
      const padded = new Uint8Array(300)
      padded.set(data, 10)
      const view = padded.subarray(10, 266)
      await store.commit(partition, {
        ops: [
          { op: 'append', token: 1, events: [{ topic: 't', data: view }] },
          { op: 'append', token: 1, events: [{ topic: 't', data }] },
        ],
      })
      const batch = await store.read(partition, { after: 0 })
      const given = batch.bytes.subarray(batch.offsets[0], batch.offsets[1])
      same([...given], [...data], 'the bytes')
      same([...padded.subarray(0, 10), ...padded.subarray(266)], Array(44).fill(0), 'the bytes around a view')
    },
  },
  {
    id: 'log.batches',
    name: 'reads from any place, in batches of any size, always the same events',
    async check({ store, partition }) {
      const texts = numbers(1, 300).map((n) => `${n} ${'x'.repeat((n * 37) % 900)}`)
      for (let i = 0; i < texts.length; i += 30) {
        await store.commit(partition, { ops: [append(1, ...texts.slice(i, i + 30))] })
      }
      for (const query of [
        {},
        { limit: 1 },
        { limit: 7 },
        { maxBytes: 1 },
        { maxBytes: 2000 },
        { limit: 1000 },
      ]) {
        const events = await readAll(store, partition, query)
        same(
          events.map(({ text }) => text),
          texts,
          `read with ${JSON.stringify(query)}`,
        )
      }
      for (const after of [0, 1, 17, 150, 298, 299]) {
        const events = await readAll(store, partition, { after })
        same(
          events.map(({ seq }) => seq),
          numbers(after + 1, 300),
          `read after ${after}`,
        )
      }
    },
  },
  {
    id: 'log.batch-bounds',
    name: 'keeps to the limits of a batch, but always gives one event',
    async check({ store, partition }) {
      await store.commit(partition, {
        ops: [append(1, 'x'.repeat(90_000), ...numbers(1, 50).map(() => 'y'.repeat(100)))],
      })
      same((await store.read(partition, { after: 0, maxBytes: 10 })).count, 1, 'an event above the bound')
      same((await store.read(partition, { after: 1, limit: 1 })).count, 1, 'a limit of one')
      const { count } = await store.read(partition, { after: 1, limit: 20 })
      claim(count >= 1 && count <= 20, `at most 20 events: ${count}`)
      const batch = await store.read(partition, { after: 1, maxBytes: 1000 })
      const bytes = batch.offsets[batch.count]! - batch.offsets[0]!
      claim(batch.count >= 1 && bytes <= 1000, `at most 1,000 bytes: ${bytes}`)
    },
  },
  {
    id: 'log.at-the-head',
    name: 'gives an empty batch at the head, beyond it and in a log that never was',
    async check({ store, partition, unique }) {
      await store.commit(partition, { ops: [append(1, 'a', 'b')] })
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
  },
  {
    id: 'log.concurrent',
    name: 'gives concurrent appends whole, each a run of its own, with no number twice and none left out',
    async check({ store, partition }) {
      const batches = numbers(1, 20).map((n) => numbers(1, 5).map((i) => `${n}.${i}`))
      const done = await Promise.all(
        batches.map((texts) => store.commit(partition, { ops: [append(1, ...texts)] })),
      )
      const events = await readAll(store, partition)
      same(
        events.map(({ seq }) => seq),
        numbers(1, 100),
        'the numbers',
      )
      for (const [i, { head }] of done.entries()) {
        same(
          events.slice(head - 5, head).map(({ text }) => text),
          batches[i],
          `the events up to ${head}`,
        )
      }
    },
  },
  {
    id: 'log.reader-behind-writer',
    name: 'shows a reader beside a writer every event once and in order',
    async check({ store, partition }) {
      const writing = (async () => {
        for (let n = 1; n <= 60; n++)
          await store.commit(partition, { ops: [append(1, ...Array(n % 4).fill(`${n}`))] })
        await store.commit(partition, { ops: [append(1, 'end')] })
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
  },
  {
    id: 'log.head-guard',
    name: 'holds a head guard only for the last number, and lets one of several win',
    async check({ store, partition }) {
      const at = (seq: number, text: string) =>
        store.commit(partition, { guards: [{ guard: 'head', seq }], ops: [append(1, text)] })
      await at(0, 'a')
      await refused(at(0, 'b'), 'ConflictError', 'a head gone by')
      await refused(at(2, 'b'), 'ConflictError', 'a head to come')
      const race = await Promise.allSettled(numbers(1, 8).map((n) => at(1, `racer ${n}`)))
      same(race.filter(({ status }) => status === 'fulfilled').length, 1, 'winners')
      same((await store.inspect(partition)).head, 2, 'the head')
    },
  },
  {
    id: 'log.trim-keep-last',
    name: 'keeps the last events in a trim by count, and shows the gap',
    async check({ store, partition }) {
      await store.commit(partition, { ops: [append(1, ...numbers(1, 50).map(String)), put('c', 'doc')] })
      await store.trim(partition, { keepLast: 100 })
      same((await readAll(store, partition)).length, 50, 'events after a trim to more than there are')
      await store.trim(partition, { keepLast: 20 })
      const batch = await store.read(partition, { after: 0 })
      same([batch.first, batch.firstRetained, batch.head], [31, 31, 50], 'the batch over the gap')
      same(
        (await readAll(store, partition)).map(({ text }) => text),
        numbers(31, 50).map(String),
        'what is left',
      )
      same((await readAll(store, partition, { after: 40 })).length, 10, 'a read above the gap')
      await store.trim(partition, { keepLast: 0 })
      const empty = await store.read(partition, { after: 0 })
      same([empty.count, empty.firstRetained, empty.head], [0, 51, 50], 'after a trim of all')
      same((await store.commit(partition, { ops: [append(1, 'next')] })).head, 51, 'the next number')
      same(
        (await readAll(store, partition)).map(({ seq }) => seq),
        [51],
        'the log',
      )
      claim((await store.get(partition, 'c', 'doc')) !== undefined, 'a trim keeps documents')
    },
  },
  {
    id: 'log.trim-older-than',
    name: 'drops only events older than asked in a trim by age',
    async check({ store, partition, pass }) {
      await store.commit(partition, { ops: [append(1, ...numbers(1, 20).map(() => 'x'.repeat(1000)))] })
      await store.trim(partition, { olderThanMs: LONG })
      same((await readAll(store, partition)).length, 20, 'young events')
      await pass(SHORT + 1)
      await store.trim(partition, { olderThanMs: SHORT })
      const { count, head, firstRetained } = await store.read(partition, { after: 0 })
      same([count, head, firstRetained], [0, 20, 21], 'old events')
      same((await store.commit(partition, { ops: [append(1, 'next')] })).head, 21, 'the next number')
    },
  },
  {
    id: 'log.clear',
    name: 'drops documents, log and lease in a clear, but never deals a number or token again',
    async check({ store, partition, unique }) {
      const collection = unique()
      await store.commit(partition, {
        ops: [
          { op: 'claim', owner: 'a', token: 700, ttlMs: LONG },
          append(700, 'a', 'b', 'c'),
          put(collection, 'd', 1, { index: { k: 1 } }),
          put(unique(), 'e', 1, { ttlMs: LONG }),
        ],
      })
      same((await store.commit(partition, { ops: [{ op: 'clear' }] })).head, 3, 'the head of the clear')
      const { head, firstRetained, token, lease } = await store.inspect(partition)
      same([head, firstRetained, token, lease], [3, 4, 700, undefined], 'what is left')
      same(await store.get(partition, collection, 'd'), undefined, 'the document')
      same((await store.list(collection)).docs, [], 'the list')
      const batch = await store.read(partition, { after: 0 })
      same([batch.count, batch.head, batch.firstRetained], [0, 3, 4], 'the log')
      const again = (claimed: number) =>
        store.commit(partition, { ops: [{ op: 'claim', owner: 'b', token: claimed, ttlMs: LONG }] })
      await refused(again(700), 'ConflictError', 'a token issued before')
      await again(701)
      same((await store.commit(partition, { ops: [append(701, 'd')] })).head, 4, 'the next number')
      same(
        (await readAll(store, partition)).map(({ seq, text }) => [seq, text]),
        [[4, 'd']],
        'the new log',
      )
      const both = await store.commit(partition, { ops: [{ op: 'clear' }, append(701, 'e'), put('c', 'f')] })
      same([both.head, both.versions.length], [5, 1], 'ops after a clear in the same commit')
      same(
        (await readAll(store, partition)).map(({ text }) => text),
        ['e'],
        'the log after it',
      )
    },
  },
  {
    id: 'log.many-topics',
    name: 'keeps thousands of distinct topics apart',
    async check({ store, partition }) {
      const events = numbers(1, 5000).map((n) => event(`${n}`, `topic ${n}`))
      await store.commit(partition, { ops: [{ op: 'append', token: 1, events }] })
      const wrong = (await readAll(store, partition)).find(({ text, topic }) => topic !== `topic ${text}`)
      same(wrong, undefined, 'an event under another topic')
      same((await store.inspect(partition)).head, 5000, 'the head')
    },
  },
]
