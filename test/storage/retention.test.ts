import Database from 'libsql'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RetentionOptions } from '../../src/storage/store/retention.ts'
import type { Op, Store } from '../../src/storage/store/store.ts'
import { durableBackends } from './durable.ts'

const append = (bytes: number, count = 1): Op => ({
  op: 'append',
  token: 1,
  events: Array.from({ length: count }, () => ({ topic: 't', data: new Uint8Array(bytes) })),
})
const claim = (token: number, ttlMs = 600_000): Op => ({ op: 'claim', owner: 'o', token, ttlMs })
const release = (token: number): Op => ({ op: 'release', token })

async function fill(store: Store, partition: string, rows: number, bytes = 100) {
  for (let i = 0; i < rows; i++) await store.commit(partition, { ops: [append(bytes)] })
}

/** First retained event and head. */
async function left(store: Store, partition: string): Promise<[number, number]> {
  const { firstRetained, head } = await store.inspect(partition)
  const { count, first } = await store.read(partition, { after: 0 })
  expect([first, count]).toEqual([firstRetained, head - firstRetained + 1])
  return [firstRetained, head]
}

/** The store's clock, not ours. */
async function past(store: Store, ms: number) {
  const { now } = await store.inspect('clock')
  await vi.waitFor(async () => expect((await store.inspect('clock')).now).toBeGreaterThan(now + ms), {
    timeout: 240_000,
    interval: 5,
  })
}

describe.each(durableBackends())('a sweep of $name', ({ create }) => {
  const opened = async (options: RetentionOptions) => (await create())(options).store

  test('drops nothing of a log when nothing was asked for', async () => {
    const store = await opened({})
    await fill(store, 'p', 5, 10_000)
    await store.sweep()
    expect(await left(store, 'p')).toEqual([1, 5])
  })

  test('bounds each log by its own bytes, by whole appends, and keeps the last one', async () => {
    const store = await opened({ maxThreadBytes: 1_000 })
    await fill(store, 'small', 10)
    await fill(store, 'long', 25)
    await store.commit('wide', { ops: [append(100, 3)] })
    await store.commit('wide', { ops: [append(5_000, 2)] })
    await store.sweep()
    expect(await left(store, 'small')).toEqual([1, 10])
    expect(await left(store, 'long')).toEqual([16, 25])
    expect(await left(store, 'wide')).toEqual([4, 5])
    await fill(store, 'long', 3)
    await store.sweep()
    expect(await left(store, 'long')).toEqual([19, 28])
  })

  test('bounds all logs together: the one that was longest without an append loses first', async () => {
    const store = await opened({ maxTotalBytes: 2_000 })
    for (const name of ['oldest', 'middle', 'newest']) {
      await fill(store, name, 10)
      await past(store, 2)
    }
    await store.sweep()
    expect(await left(store, 'oldest')).toEqual([11, 10])
    expect(await left(store, 'middle')).toEqual([1, 10])
    await fill(store, 'oldest', 3)
    await store.sweep()
    expect(await left(store, 'oldest')).toEqual([11, 13])
    expect(await left(store, 'middle')).toEqual([4, 10])
    expect(await left(store, 'newest')).toEqual([1, 10])
  })

  test('drops what is too old', async () => {
    const store = await opened({ maxAgeMs: 300 })
    await fill(store, 'p', 5)
    await fill(store, 'old', 2)
    await past(store, 350)
    await fill(store, 'p', 2)
    await store.sweep()
    expect(await left(store, 'p')).toEqual([6, 7])
    expect(await left(store, 'old')).toEqual([3, 2])
  })

  test('drops nothing of an unfinished run until its lease is released, even when it has expired', async () => {
    const store = await opened({ maxThreadBytes: 100, maxTotalBytes: 0, maxAgeMs: 1 })
    await store.commit('held', { ops: [claim(1), append(100, 3)] })
    await store.commit('lost', { ops: [claim(1, 1), append(100, 3)] })
    await fill(store, 'held', 2)
    await fill(store, 'lost', 2)
    await past(store, 5)
    expect(await store.expired()).toHaveLength(1)
    await store.sweep()
    expect([await left(store, 'held'), await left(store, 'lost')]).toEqual([
      [1, 5],
      [1, 5],
    ])
    await store.commit('held', { ops: [release(1)] })
    await store.commit('lost', { ops: [claim(2), release(2)] })
    await store.sweep()
    expect([await left(store, 'held'), await left(store, 'lost')]).toEqual([
      [6, 5],
      [6, 5],
    ])
  })

  test('drops a log of many appends, while it is read and written', async () => {
    const store = await opened({ maxThreadBytes: 50 })
    const many = Array.from({ length: 1_300 }, () => append(10))
    await store.commit('p', { ops: many })
    await Promise.all([
      store.sweep(),
      store.sweep(),
      fill(store, 'p', 3, 10),
      store.read('p', { after: 600 }),
    ])
    await store.sweep()
    expect(await left(store, 'p')).toEqual([1_299, 1_303])
  })

  test('counts right after trims, clears and restarts', async () => {
    const open = await create()
    const { store } = open({ maxTotalBytes: 1_000 })
    await fill(store, 'a', 20)
    await store.trim('a', { keepLast: 5 })
    await fill(store, 'b', 20)
    await store.commit('b', { ops: [{ op: 'clear' }] })
    await fill(store, 'b', 5)
    await store.sweep()
    expect([await left(store, 'a'), await left(store, 'b')]).toEqual([
      [16, 20],
      [21, 25],
    ])
    await fill(store, 'b', 2)
    await open({ maxTotalBytes: 1_000 }).store.sweep()
    expect([await left(store, 'a'), await left(store, 'b')]).toEqual([
      [18, 20],
      [21, 27],
    ])
  })
})

describe.each(durableBackends())('what is deleted from $name', ({ create }) => {
  /** How many rows every table has. */
  async function rows(url: string, schema: string | undefined): Promise<Record<string, number>> {
    if (schema === undefined) {
      const database = new Database(url)
      onTestFinished(() => void database.close())
      const names = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all() as {
        name: string
      }[]
      return Object.fromEntries(
        names.map(({ name }) => [
          name.replace('agentwire_', ''),
          Number((database.prepare(`SELECT count(*) AS n FROM ${name}`).get() as { n: number }).n),
        ]),
      )
    }
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema])
      const counts: Record<string, number> = {}
      for (const { tablename: name } of rows) {
        const { rows } = await client.query(`SELECT count(*)::int AS n FROM ${schema}.${name}`)
        counts[name.replace('agentwire_', '')] = rows[0].n
      }
      return counts
    } finally {
      await client.end()
    }
  }

  test('leaves no row in any table, but the counters of its partition', async () => {
    const open = await create()
    const { store, checkpointer } = open()
    await store.setup()
    const { url, schema } = open
    const empty = await rows(url, schema)
    expect(Object.keys(empty).length).toBeGreaterThan(6)
    for (const thread of ['t', 'other']) {
      await store.commit(thread, {
        ops: [
          claim(1),
          append(100, 5),
          append(70_000, 3),
          { op: 'put', collection: 'c', id: 'd', value: { a: 1 }, index: { at: 1, by: 'x' } },
          { op: 'put', collection: 'c', id: 'e', value: 2, index: { at: 2 }, ttlMs: 600_000 },
        ],
      })
      for (const [step, namespace] of ['', 'child:1'].entries()) {
        const config = { configurable: { thread_id: thread, checkpoint_ns: namespace } }
        const id = `${step}`
        const checkpoint = {
          ...{ v: 4, id, ts: '', versions_seen: {} },
          channel_values: { a: [1], b: new Uint8Array(3) },
          channel_versions: { a: 1, b: 1 },
        }
        const metadata = { source: 'loop', step, parents: {} } as const
        const at = await checkpointer.put(config, checkpoint, metadata, { a: 1, b: 1 })
        await checkpointer.putWrites(
          at,
          [
            ['a', 1],
            ['__error__', 'x'],
          ],
          'task',
        )
      }
    }
    const full = await rows(url, schema)
    // A sweep moves counts from one table into another.
    await store.sweep()
    const swept = await rows(url, schema)
    for (const [table, count] of Object.entries(empty)) {
      if (table === 'schema_version') continue
      expect([table, count, Math.max(full[table]!, swept[table]!) > 1]).toEqual([table, 0, true])
    }
    for (const thread of ['t', 'other']) {
      await checkpointer.deleteThread(thread)
      await store.commit(thread, { ops: [{ op: 'clear' }] })
    }
    await store.sweep()
    expect(await rows(url, schema)).toEqual({ ...empty, partitions: 2 })
  })
})
