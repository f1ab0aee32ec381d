import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { type PostgresStorageOptions, postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import { fromText, keyOf, namesOf, readNames, toText } from '../../../src/storage/postgres/text.ts'
import type { Op, Store } from '../../../src/storage/store/store.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'

const append = (text: string, token = 1): Op => ({
  op: 'append',
  token,
  events: [{ topic: 't', data: new TextEncoder().encode(text) }],
})
const put = (id: string, index = {}): Op => ({ op: 'put', collection: 'c', id, value: id, index })
const later = { timeout: 30_000, interval: 20 }

/** Strings that Postgres does not take, or cannot index, as they are; and some it can. */
const ODD = [
  '',
  'plain',
  '\0',
  'a\0b',
  'a\0c',
  '\u007f',
  '\u007f0000',
  '\ud800',
  'x\udfff\ud800',
  '🙂',
  '__proto__',
  `${'🙂'.repeat(31)}x${'🙂'.repeat(40)}`,
  'é'.repeat(129),
  `${'é'.repeat(129)}!`,
  randomBytes(6_000).toString('latin1'),
]

describe('strings in Postgres', () => {
  test('come back as they were, and different ones stay different', () => {
    for (const value of ODD) {
      expect(fromText(toText(value))).toBe(value)
      expect(readNames(namesOf(value, 'other', undefined), keyOf(value), 'other', null)).toEqual([
        value,
        'other',
        null,
      ])
      for (const text of [toText(value), keyOf(value)]) {
        expect(text).not.toMatch(/[\0\p{Surrogate}]/u)
      }
      expect(keyOf(value).length).toBeLessThanOrEqual(128)
    }
    expect(new Set(ODD.map(toText)).size).toBe(ODD.length)
    expect(new Set(ODD.map(keyOf)).size).toBe(ODD.length)
  })
})

describe.runIf(hasPostgres())('postgresStorage', async () => {
  const url = await sharedPostgres()
  const pool = new pg.Pool({ connectionString: url })
  const opened: { close(): Promise<unknown> }[] = []
  afterAll(async () => {
    await Promise.all(opened.map(({ close }) => close()))
    await pool.end()
  })
  let schemas = 0

  function open(options: Partial<PostgresStorageOptions> = {}) {
    const from = options.url ? {} : { pool }
    const storage = postgresStorage({ ...from, schema: `details_${++schemas}`, ...options })
    opened.push(storage)
    return { ...storage, schema: options.schema ?? `details_${schemas}` }
  }

  test('takes any strings for whatever is named', async () => {
    const { store, checkpointer } = open()
    for (const odd of ODD) {
      const token = 5
      const event = { topic: odd, data: new Uint8Array(3) }
      await store.commit(`p${odd}`, {
        ops: [
          { op: 'claim', owner: odd, token, ttlMs: 0 },
          { op: 'append', token, events: [event] },
          { op: 'put', collection: odd, id: odd, value: odd, index: { [odd]: odd } },
        ],
      })
      const batch = await store.read(`p${odd}`, { after: 0 })
      expect(batch.origins).toEqual([{ topic: odd, token }])
      const doc = { partition: `p${odd}`, id: odd, value: odd, index: { [odd]: odd } }
      expect(await store.get(`p${odd}`, odd, odd)).toMatchObject(doc)
      const found = await store.list(odd, { where: { [odd]: odd }, orderBy: odd, partition: `p${odd}` })
      expect(found.docs).toMatchObject([doc])
      const config = { configurable: { thread_id: odd, checkpoint_ns: odd, checkpoint_id: odd || 'parent' } }
      const checkpoint = {
        v: 4,
        id: `${odd}!`,
        ts: '',
        channel_values: { [odd]: odd },
        channel_versions: { [odd]: odd },
        versions_seen: {},
      }
      const saved = await checkpointer.put(
        config,
        checkpoint,
        { source: 'loop', step: 1, parents: {} },
        { [odd]: odd },
      )
      await checkpointer.putWrites(saved, [[odd, odd]], odd)
      expect(await checkpointer.getTuple(saved)).toMatchObject({
        config: saved,
        parentConfig: config,
        checkpoint,
        pendingWrites: [[odd, odd, odd]],
      })
    }
    const leases = await store.expired({ limit: 100 })
    expect(leases.map(({ partition }) => partition).sort()).toEqual(ODD.map((odd) => `p${odd}`).sort())
    expect(leases.every(({ partition, owner }) => partition === `p${owner}`)).toBe(true)
  })

  test('gives the same answers whatever the defaults of the connection are', async () => {
    const types = { getTypeParser: () => () => 'of the user' }
    const options =
      '-c default_transaction_isolation=serializable -c bytea_output=escape -c timezone=Asia/Tokyo ' +
      '-c extra_float_digits=-3 -c standard_conforming_strings=off -c enable_seqscan=off'
    const { store, checkpointer, close } = open({ url: `${url}?options=${encodeURIComponent(options)}` })
    const odd = postgresStorage({
      pool: new pg.Pool({ connectionString: url, types }),
      schema: `details_${schemas}`,
    })
    opened.push(odd)
    const writes = Array.from({ length: 20 }, (_, i) =>
      store.commit('p', { ops: [append(`${i}`), put(`d${i}`, { k: 1 / 3 + i })] }),
    )
    expect((await Promise.all(writes)).map(({ head }) => head).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    )
    for (const each of [store, odd.store]) {
      expect((await each.read('p', { after: 0 })).count).toBe(20)
      const { docs } = await each.list('c', { where: { k: 1 / 3 + 7 } })
      expect(docs.map(({ id }) => id)).toEqual(['d7'])
      expect(
        (await each.list('c', { orderBy: 'k', descending: true, limit: 2 })).docs.map(({ id }) => id),
      ).toEqual(['d19', 'd18'])
    }
    const config = { configurable: { thread_id: 't' } }
    await checkpointer.putWrites({ configurable: { thread_id: 't', checkpoint_id: '1' } }, [['a', 1]], 'task')
    expect(await odd.checkpointer.getTuple(config)).toBeUndefined()
    await close()
  })

  test('asks the database once for what many readers want at once, but never with an older answer', async () => {
    let reads = 0
    const counted = new pg.Pool({ connectionString: url })
    counted.on('acquire', () => {
      reads += 1
    })
    const { store } = open({ pool: counted })
    await store.commit('p', { ops: [append('a')] })
    reads = 0
    const batches = await Promise.all(Array.from({ length: 500 }, () => store.read('p', { after: 0 })))
    expect(reads).toBe(1)
    expect(batches.every(({ count }) => count === 1)).toBe(true)
    for (let i = 0; i < 30; i++) {
      const early = store.read('p', { after: 1 + i })
      await store.commit('p', { ops: [append('b')] })
      expect((await store.read('p', { after: 1 + i })).count).toBe(1)
      await early
    }
    await counted.end()
  })

  test('needs one connection beside the pool, whatever is watched', async () => {
    const few = new pg.Pool({ connectionString: url, application_name: 'few', max: 2 })
    const { store } = open({ pool: few })
    const notified = new Set<number>()
    const partitions = Array.from({ length: 1_000 }, (_, i) => `p${i}`)
    const stops = partitions.map((partition, i) => store.watch(partition, () => notified.add(i)))
    await vi.waitFor(() => expect(notified.size).toBe(1_000), later)
    notified.clear()
    const other = postgresStorage({ pool, schema: `details_${schemas}` })
    opened.push(other)
    await Promise.all(
      partitions.slice(0, 450).map((partition) => other.store.commit(partition, { ops: [put('d')] })),
    )
    await vi.waitFor(() => expect(notified.size).toBe(450), later)
    const { rows } = await pool.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'few'`,
    )
    expect(rows[0].n).toBeLessThanOrEqual(3)
    for (const stop of stops) stop()
  })

  test('notifies of what changed, across processes too', async () => {
    // Schemas share the channel of notifications, so that other files could notify of a `p`.
    const { store, schema } = open()
    const other = postgresStorage({ pool, schema })
    opened.push(other)
    const changes: unknown[] = []
    other.store.watch('changes', (change) => changes.push(change))
    await vi.waitFor(() => expect(changes.length).toBe(1), later)
    for (const [ops, change] of [
      [[append('x')], { log: true, docs: false }],
      [[put('d')], { log: false, docs: true }],
      [[append('x'), put('d')], { log: true, docs: true }],
    ] as const) {
      changes.length = 0
      await store.commit('changes', { ops })
      await vi.waitFor(() => expect(changes).toEqual([change]), later)
    }
  })

  test('keeps one copy of a value that steps did not change, and shares it with forks', async () => {
    const { checkpointer, schema } = open()
    const configurable = { thread_id: 't', checkpoint_ns: '' }
    const big = 'x'.repeat(10_000)
    const idOf = (number: number) => String(number).padStart(2, '0')
    const step = (number: number, parent: number, values: object, versions: object, changed: object) =>
      checkpointer.put(
        { configurable: { ...configurable, ...(parent > 0 && { checkpoint_id: idOf(parent) }) } },
        {
          v: 4,
          id: idOf(number),
          ts: '',
          channel_values: { ...values },
          channel_versions: { ...versions } as Record<string, number>,
          versions_seen: {},
        },
        { source: 'loop', step: number, parents: {} },
        { ...changed } as Record<string, number>,
      )
    await step(1, 0, { big, n: 1 }, { big: 1, n: 1 }, { big: 1, n: 1 })
    for (let number = 2; number <= 20; number++) {
      await step(number, number - 1, { big, n: number }, { big: 1, n: number }, { n: number })
    }
    // A copy of step 20 as a child of step 10, as LangGraph forks.
    await step(21, 10, { big, n: 20 }, { big: 1, n: 20 }, {})
    const { rows } = await pool.query(
      `SELECT channel, count(*)::int AS n FROM ${schema}.agentwire_channel_values GROUP BY 1`,
    )
    expect(Object.fromEntries(rows.map(({ channel, n }) => [channel, n]))).toEqual({ big: 1, n: 20 })
    const newest = await checkpointer.getTuple({ configurable })
    expect(newest?.checkpoint.channel_values).toEqual({ big, n: 20 })
    await checkpointer.deleteThread('t')
    for (const table of ['checkpoints', 'channel_values', 'writes']) {
      expect((await pool.query(`SELECT 1 FROM ${schema}.agentwire_${table}`)).rows).toEqual([])
    }
  })

  test('lists a long history page by page, filtered by metadata or not', async () => {
    const { checkpointer } = open()
    const ids = Array.from({ length: 450 }, (_, i) => String(i).padStart(4, '0'))
    for (const [step, id] of ids.entries())
      await checkpointer.put(
        { configurable: { thread_id: 't' } },
        { v: 4, id, ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} },
        { source: step % 100 === 7 ? 'update' : 'loop', step, parents: {} },
        {},
      )
    const list = async (options: Parameters<typeof checkpointer.list>[1]) => {
      const found: string[] = []
      for await (const { checkpoint } of checkpointer.list({ configurable: { thread_id: 't' } }, options)) {
        found.push(checkpoint.id)
      }
      return found
    }
    const newest = [...ids].reverse()
    expect(await list({})).toEqual(newest)
    expect(await list({ limit: 203 })).toEqual(newest.slice(0, 203))
    expect(await list({ filter: { source: 'update' } })).toEqual(['0407', '0307', '0207', '0107', '0007'])
    expect(await list({ filter: { source: 'update' }, limit: 2 })).toEqual(['0407', '0307'])
  })

  test('walks a long line of ancestors for what channels received, in order, down to the seed', async () => {
    const { checkpointer } = open()
    const configAt = (number: number) => ({
      configurable: { thread_id: 't', checkpoint_ns: '', checkpoint_id: String(number).padStart(4, '0') },
    })
    const LAST = 250
    for (let number = 1; number <= LAST; number++) {
      const values = number === 20 ? { list: ['seed'] } : {}
      await checkpointer.put(
        number === 1 ? { configurable: { thread_id: 't' } } : configAt(number - 1),
        {
          v: 4,
          id: configAt(number).configurable.checkpoint_id,
          ts: '',
          channel_values: values,
          channel_versions: { list: number },
          versions_seen: {},
        },
        { source: 'loop', step: number, parents: {} },
        { list: number },
      )
      await checkpointer.putWrites(
        configAt(number),
        [
          ['list', number],
          ['other', number],
        ],
        'task',
      )
    }
    const history = (config: object) =>
      checkpointer.getDeltaChannelHistory({ config, channels: ['list', 'none'] })
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
    const seen = async (config: object) => {
      const { list, none } = await history(config)
      expect(none).toEqual({ writes: [] })
      return [list?.seed, list?.writes.map(([, , value]) => value)]
    }
    expect(await seen({ configurable: { thread_id: 't' } })).toEqual([['seed'], numbers(20, LAST - 1)])
    expect(await seen(configAt(150))).toEqual([['seed'], numbers(20, 149)])
    expect(await seen(configAt(20))).toEqual([undefined, numbers(1, 19)])
    expect(await seen(configAt(1))).toEqual([undefined, []])
    expect(await seen(configAt(999))).toEqual([undefined, []])
  })

  test('gives back every byte, with and without zeros among them', async () => {
    const { store } = open()
    const all = Uint8Array.from({ length: 1024 }, (_, i) => i % 256)
    for (const [partition, data] of [
      ['with', all],
      ['without', all.filter((byte) => byte !== 0)],
    ] as const) {
      await store.commit(partition, { ops: [{ op: 'append', token: 1, events: [{ topic: 't', data }] }] })
      const { bytes, offsets } = await store.read(partition, { after: 0 })
      expect(bytes.subarray(offsets[0], offsets[1])).toEqual(data)
    }
  })

  test('splits a large append into rows, so that a small read of it stays small', async () => {
    const { store, schema } = open()
    const events = Array.from({ length: 3_000 }, (_, i) => ({
      topic: `t${i % 3}`,
      data: new TextEncoder().encode(`${i} ${'x'.repeat(100)}`),
    }))
    await store.commit('p', { ops: [{ op: 'append', token: 1, events }, append('last', 2)] })
    const { rows } = await pool.query(
      `SELECT max(bytes)::int AS bytes, count(*)::int AS n FROM ${schema}.agentwire_events`,
    )
    expect(rows[0].bytes).toBeLessThanOrEqual(65_536)
    expect(rows[0].n).toBeGreaterThan(4)
    for (const [after, limit] of [
      [1_234, 3],
      [2_998, 10],
      [0, 1],
    ] as const) {
      const { first, count, bytes, offsets, origins, originOf, head } = await store.read('p', {
        after,
        limit,
      })
      expect([first, count, head]).toEqual([after + 1, Math.min(limit, 3_001 - after), 3_001])
      expect(new TextDecoder().decode(bytes.subarray(offsets[0], offsets[1]))).toMatch(
        new RegExp(`^${after} `),
      )
      expect(origins[originOf[0]!]).toEqual({ topic: `t${after % 3}`, token: 1 })
      expect(bytes.length).toBe(offsets[count])
    }
  })

  test('sweeps what has expired, in several processes at once, and leaves no index of it', async () => {
    const { store, schema } = open()
    const expiring = (i: number): Op => ({
      op: 'put',
      collection: 'c',
      id: `${i}`,
      value: i,
      index: { i },
      ttlMs: 1,
    })
    await store.commit('p', {
      ops: [...Array.from({ length: 1_500 }, (_, i) => expiring(i)), put('kept', { i: -1 })],
    })
    await vi.waitFor(async () => expect((await store.list('c')).docs.length).toBe(1), later)
    const count = async (table: string) =>
      (await pool.query(`SELECT count(*)::int AS n FROM ${schema}.agentwire_${table}`)).rows[0].n
    expect(await count('documents')).toBe(1_501)
    await Promise.all([store.sweep(), store.sweep(), store.commit('p', { ops: [put('3', { i: 3 })] })])
    await store.sweep()
    expect([await count('documents'), await count('fields')]).toEqual([2, 2])
    expect((await store.list('c', { where: { i: 3 } })).docs.map(({ id }) => id)).toEqual(['3'])
  })

  test('keeps log, documents and their index whole while several processes write, sweep and trim at once', async () => {
    const { schema } = open()
    const stores = [1, 2, 3].map(() => open({ url, schema }).store)
    const expiring = (id: string, i: number): Op => ({
      op: 'put',
      collection: 'c',
      id,
      value: i,
      index: { i, [`f${i % 3}`]: i % 5 },
      ttlMs: i % 4,
    })
    const act = async (store: Store, i: number) => {
      const partition = `p${i % 2}`
      if (i % 7 === 0) return store.sweep()
      if (i % 11 === 0) return store.trim(partition, { keepLast: i % 40 })
      if (i % 53 === 0) return store.commit(partition, { ops: [{ op: 'clear' }] })
      const ops = [expiring(`${i % 5}`, i), append(`${i}`), put(`${i % 3}`, { i }), append(`${i}`)]
      return store.commit(partition, {
        ops: i % 5 ? ops : [{ op: 'delete', collection: 'c', id: '1' }, ...ops],
      })
    }
    await Promise.all(
      Array.from({ length: 15 }, async (_, actor) => {
        for (let i = 0; i < 60; i++) await act(stores[actor % 3]!, actor * 60 + i)
      }),
    )
    const { rows: broken } = await pool.query(
      `SELECT d.fields, array_agg(f.field ORDER BY f.field) AS found
        FROM ${schema}.agentwire_documents d FULL JOIN ${schema}.agentwire_fields f ON f.document = d.key
        GROUP BY d.key, d.fields HAVING d.key IS NULL OR count(f.field) <> (SELECT count(*) FROM json_object_keys(d.fields::json))`,
    )
    expect(broken).toEqual([])
    for (const partition of ['p0', 'p1']) {
      const { head, firstRetained } = await stores[0]!.inspect(partition)
      let next = firstRetained
      for (;;) {
        const { first, count } = await stores[1]!.read(partition, { after: next - 1, limit: 7 })
        if (count === 0) break
        expect(first).toBe(next)
        next += count
      }
      expect(next).toBe(head + 1)
    }
  })
})
