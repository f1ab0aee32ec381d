import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type PostgresQuery, postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import type { Op } from '../../../src/storage/store/store.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'

const append = (text: string, token = 1): Op => ({
  op: 'append',
  token,
  events: [{ topic: 't', data: new TextEncoder().encode(text) }],
})
const fenced = { guards: [{ guard: 'fence', token: 1 }] } as const
const put: Op = { op: 'put', collection: 'c', id: 'd', value: 1 }
const later = { timeout: 30_000, interval: 20 }

const checkpointOf = (id: string) => ({
  v: 4,
  id,
  ts: '2026-01-01T00:00:00.000Z',
  channel_values: { a: id },
  channel_versions: { a: 1 },
  versions_seen: {},
})

describe.runIf(hasPostgres())('writes of one moment in Postgres', async () => {
  const url = await sharedPostgres()
  const cleanups: (() => Promise<unknown>)[] = []
  let schemas = 0

  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
  })

  /** A storage that is set up, and the statements that it sends from then on. */
  async function open(deadlineMs?: number) {
    const pool = new pg.Pool({ connectionString: url })
    const schema = `writes_${++schemas}`
    const sent: string[] = []
    pool.on('connect', (client) => {
      const query = client.query.bind(client)
      const watched = (given: PostgresQuery) => {
        if (/append|commit|put_/.test(given.text)) sent.push(given.text)
        return query(given as pg.QueryConfig)
      }
      Object.assign(client, { query: watched })
    })
    const storage = postgresStorage({ pool, schema, deadlineMs })
    cleanups.push(
      () => pool.end(),
      () => storage.close(),
    )
    await storage.store.commit('p', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
    sent.length = 0
    return { ...storage, sent, schema }
  }

  const settled = async (works: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(works)).map((one) =>
      one.status === 'fulfilled' ? 'done' : (one.reason as Error).name,
    )

  test('are one statement, of which each that is refused leaves the others alone', async () => {
    const { store, checkpointer, sent } = await open()
    const saver = checkpointer.withFence('p', 1)
    const stale = checkpointer.withFence('p', 9)
    const at = { configurable: { thread_id: 'p', checkpoint_ns: '' } }
    const results = await settled([
      store.commit('p', { ...fenced, ops: [append('a')] }),
      saver.put(at, checkpointOf('1'), { source: 'input', step: -1, parents: {} }, { a: 1 }),
      store.commit('p', { guards: [{ guard: 'head', seq: 7 }], ops: [put] }),
      saver.putWrites({ configurable: { ...at.configurable, checkpoint_id: '1' } }, [['a', 2]], 'task'),
      stale.putWrites({ configurable: { ...at.configurable, checkpoint_id: '1' } }, [['a', 3]], 'other'),
      store.commit('p', { ...fenced, ops: [append('b')] }),
    ])
    expect(results).toEqual(['done', 'done', 'ConflictError', 'done', 'FencedError', 'done'])
    expect(sent.length).toBe(1)
    const batch = await store.read('p', { after: 0 })
    expect(new TextDecoder().decode(batch.bytes.subarray(0, 2))).toBe('ab')
    expect(await store.get('p', 'c', 'd')).toBeUndefined()
    const tuple = await checkpointer.getTuple(at)
    expect([tuple?.checkpoint.channel_values, tuple?.pendingWrites]).toEqual([{ a: '1' }, [['task', 'a', 2]]])
  })

  test('go together while another is under way; those of other partitions do not wait', async () => {
    const { store, sent } = await open()
    const works = Array.from({ length: 10 }, (_, i) => store.commit('p', { ops: [append(`${i}`)] }))
    await works[0]
    expect((await store.commit('q', { ops: [put] })).versions.length).toBe(1)
    const heads = (await Promise.all(works)).map(({ head }) => head)
    expect(heads).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(sent.length).toBe(2)
    const before = sent.length
    const first = store.commit('p', { ops: [append('x')] })
    await vi.waitFor(() => expect(sent.length).toBe(before + 1), later)
    const rest = Array.from({ length: 5 }, () => store.commit('p', { ops: [append('y')] }))
    await Promise.all([first, ...rest])
    expect(sent.length).toBe(before + 2)
  })

  test('are tried one by one where the server refuses one of them', async () => {
    const { store, schema, sent } = await open()
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query(`ALTER TABLE ${schema}.agentwire_documents ADD CHECK (id <> 'd')`)
    await admin.end()
    const results = await settled([
      store.commit('p', { ops: [append('a')] }),
      store.commit('p', { ops: [append('x'), put] }),
      store.commit('p', { ops: [append('b')] }),
    ])
    expect(results).toEqual(['done', 'UnavailableError', 'done'])
    expect(sent.length).toBe(4)
    expect((await store.inspect('p')).head).toBe(2)
  })

  test('wait no longer than the deadline, and those that were not sent are not written', async () => {
    const { store, schema, sent } = await open(400)
    const blocking = new pg.Client({ connectionString: url })
    await blocking.connect()
    await blocking.query('BEGIN')
    await blocking.query(`SELECT 1 FROM ${schema}.agentwire_partitions FOR UPDATE`)
    try {
      const began = performance.now()
      const first = store.commit('p', { ops: [append('a')] })
      await vi.waitFor(() => expect(sent.length).toBe(1), later)
      const second = store.commit('p', { ops: [append('b')] })
      expect(await settled([first, second])).toEqual(['UnavailableError', 'UnavailableError'])
      expect(performance.now() - began).toBeLessThan(5_000)
    } finally {
      await blocking.end()
    }
  })
})
