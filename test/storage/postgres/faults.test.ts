import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readAll } from '../../../src/audit/store/rule.ts'
import type { UnavailableError } from '../../../src/storage/errors.ts'
import { type PostgresStorageOptions, postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import type { Op } from '../../../src/storage/store/store.ts'
import { hasPostgres, sharedPostgres, startPostgres } from '../../kit/postgres-server.ts'
import { startProxy } from '../../kit/proxy.ts'

const append = (text: string): Op => ({
  op: 'append',
  token: 1,
  events: [{ topic: 't', data: new TextEncoder().encode(text) }],
})
const take = (token: number): Op => ({ op: 'claim', owner: 'o', token, ttlMs: 600_000 })
const CRASHES = Number(process.env.CRASHES ?? 2)
const later = { timeout: 30_000, interval: 20 }

/** The typed error that a call must reject with. */
const unavailable = async (work: Promise<unknown>): Promise<UnavailableError> => {
  const error = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'UnavailableError', code: 'unavailable' })
  return error as UnavailableError
}

describe.runIf(hasPostgres())('postgresStorage under faults', async () => {
  const shared = await sharedPostgres()
  const cleanups: (() => Promise<unknown>)[] = []
  let schemas = 0

  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
  })

  function open(options: Partial<PostgresStorageOptions> = {}) {
    const from = options.pool ? {} : { url: shared }
    const storage = postgresStorage({ ...from, schema: `faults_${++schemas}`, ...options })
    cleanups.push(storage.close)
    return storage
  }

  function poolOf(config: pg.PoolConfig): pg.Pool {
    const pool = new pg.Pool({ connectionString: shared, ...config })
    cleanups.push(() => pool.end())
    return pool
  }

  async function admin(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: shared })
    await client.connect()
    try {
      return (await client.query(text, values)).rows
    } finally {
      await client.end()
    }
  }

  /** A transaction that holds the row of a partition, so that commits to it wait. */
  async function holdPartition(schema: string) {
    const client = new pg.Client({ connectionString: shared })
    await client.connect()
    await client.query('BEGIN')
    await client.query(`SELECT 1 FROM ${schema}.agentwire_partitions FOR UPDATE`)
    return async () => {
      await client.end()
    }
  }

  const waiting = (schema: string) =>
    admin(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"${schema}"%'`)

  test('calls fail in time with a typed error while the pool is exhausted, and write nothing', async () => {
    const pool = poolOf({ max: 2 })
    const { store } = open({ pool, deadlineMs: 300 })
    await store.setup()
    const held = [await pool.connect(), await pool.connect()]
    const errors = await Promise.all([
      unavailable(store.commit('p', { ops: [append('x')] })),
      unavailable(store.read('p', { after: 0 })),
      unavailable(store.get('p', 'c', 'd')),
    ])
    expect(errors.map(({ written }) => written)).toEqual(['no', 'no', 'no'])
    for (const client of held) client.release()
    // What nobody waits for any more was not done when its turn came.
    await vi.waitFor(() => expect(pool.waitingCount).toBe(0), later)
    expect((await store.inspect('p')).head).toBe(0)
    expect((await store.commit('p', { ops: [append('x')] })).head).toBe(1)
  })

  test('notifications resume after the listening connection was terminated', async () => {
    const schema = `faults_${schemas + 1}`
    const writer = open({ schema })
    // Schemas share the channel of notifications, so that other files could notify of a `p`.
    const partition = `p of ${schema}`
    const reader = open({ schema, pool: poolOf({ application_name: schema }) })
    const listeners = () =>
      admin(`SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'`, [schema])
    let notified = 0
    reader.store.watch(partition, () => {
      notified += 1
    })
    const before = await vi.waitFor(async () => {
      const found = await listeners()
      expect(found.length).toBe(1)
      return found[0]!.pid
    }, later)
    await vi.waitFor(() => expect(notified).toBeGreaterThan(0), later)
    notified = 0
    await admin('SELECT pg_terminate_backend($1)', [before])
    // One for what may have been missed, without any commit.
    await vi.waitFor(() => expect(notified).toBe(1), later)
    expect((await listeners()).map(({ pid }) => pid)).not.toContain(before)
    await writer.store.commit(partition, { ops: [append('x')] })
    await vi.waitFor(() => expect(notified).toBe(2), later)
  })

  test('a commit whose connection is terminated while it waits may be written; other calls go on', async () => {
    const schema = `faults_${schemas + 1}`
    const { store } = open({ schema })
    await store.commit('p', { ops: [append('x')] })
    const release = await holdPartition(schema)
    const commit = unavailable(store.commit('p', { ops: [append('y')] }))
    const [blocked] = await vi.waitFor(async () => {
      const found = await waiting(schema)
      expect(found.length).toBe(1)
      return found
    }, later)
    await admin('SELECT pg_terminate_backend($1)', [blocked!.pid])
    expect((await commit).written).toBe('unknown')
    await release()
    expect((await store.commit('p', { ops: [append('z')] })).head).toBe(2)
  })

  test('a commit that is cancelled by the server, or aborted before it is sent, was not written', async () => {
    const schema = `faults_${schemas + 1}`
    const { store } = open({ schema })
    await store.commit('p', { ops: [append('x')] })
    const release = await holdPartition(schema)
    const cancelled = unavailable(store.commit('p', { ops: [append('y')] }))
    const aborting = new AbortController()
    const aborted = unavailable(store.commit('p', { ops: [append('y')], signal: aborting.signal }))
    const blocked = await vi.waitFor(async () => {
      const found = await waiting(schema)
      expect(found.length).toBe(2)
      return found
    }, later)
    aborting.abort(new Error('enough'))
    expect((await aborted).written).toBe('unknown')
    for (const { pid } of blocked) await admin('SELECT pg_cancel_backend($1)', [pid])
    expect((await cancelled).written).toBe('no')
    await release()
    expect((await store.inspect('p')).head).toBe(1)
  })

  test('calls through a link gone silent fail in time, and work again after', async () => {
    const proxy = await startProxy(shared)
    cleanups.push(proxy.close)
    const schema = `faults_${schemas + 1}`
    const elsewhere = open({ schema })
    // The tables first, in their own time: the short deadline is for what follows.
    await elsewhere.setup()
    const { store, checkpointer } = open({ url: proxy.url, schema, deadlineMs: 250 })
    let notified = 0
    store.watch('p', () => {
      notified += 1
    })
    await store.commit('p', { ops: [append('x')] })
    await vi.waitFor(() => expect(notified).toBe(2), later)
    proxy.stall()
    expect((await unavailable(store.commit('p', { ops: [append('y')] }))).written).toBe('unknown')
    await Promise.all([
      unavailable(store.read('p', { after: 0 })),
      unavailable(store.list('c')),
      unavailable(checkpointer.getTuple({ configurable: { thread_id: 'p' } })),
      unavailable(checkpointer.deleteThread('p')),
    ])
    // Without any call: the silent LISTEN connection is given up, and a new one tried.
    const before = proxy.accepted
    await vi.waitFor(() => expect(proxy.accepted).toBeGreaterThan(before), later)
    proxy.resume()
    const { head } = await vi.waitFor(() => store.inspect('p'), later)
    notified = 0
    await vi.waitFor(async () => {
      await elsewhere.store.commit('p', { ops: [append('z')] })
      expect(notified).toBeGreaterThan(0)
    }, later)
    expect(head).toBeLessThanOrEqual(2)
    proxy.reset()
    await vi.waitFor(() => store.inspect('p'), later)
  })

  test('an immediate restart of the server fails calls in time; then all works again and nothing is lost', async () => {
    const server = await startPostgres()
    cleanups.push(server.remove)
    // The tables first, in their own time: the short deadline is for what follows.
    await open({ url: server.url, deadlineMs: 30_000 }).store.setup()
    const { store, checkpointer } = open({ url: server.url, deadlineMs: 1_000 })
    await vi.waitFor(() => store.inspect('p'), later)
    let notified = 0
    store.watch('p', () => {
      notified += 1
    })
    await store.commit('p', { ops: [take(1), append('x')] })
    const acknowledged = { written: 1 }
    const write = async () => {
      for (;;) {
        const { head } = await store.commit('p', {
          guards: [{ guard: 'fence', token: 1 }],
          ops: [append('y')],
        })
        acknowledged.written = head
      }
    }
    const writing = unavailable(write())
    await vi.waitFor(() => expect(acknowledged.written).toBeGreaterThan(20), later)
    await server.stop('immediate')
    await writing
    expect((await unavailable(store.commit('p', { ops: [append('z')] }))).written).toBe('no')
    await unavailable(checkpointer.deleteThread('p'))
    const late = open({ url: server.url, deadlineMs: 1_000 })
    await unavailable(late.setup())
    expect((await unavailable(late.store.commit('p', { ops: [append('x')] }))).written).toBe('no')
    notified = 0
    await server.start()
    // A storage that was opened while the server was away sets itself up when it is back.
    await vi.waitFor(async () => expect((await late.store.inspect('p')).head).toBe(0), later)
    const { head, lease } = await vi.waitFor(() => store.inspect('p'), later)
    expect(head).toBeGreaterThanOrEqual(acknowledged.written)
    expect(lease?.token).toBe(1)
    // The watchers are told that they may have missed something.
    await vi.waitFor(() => expect(notified).toBeGreaterThan(0), later)
    expect((await store.commit('p', { ops: [append('z')] })).head).toBe(head + 1)
  })

  test('a backend that stands still is left behind, and what it does when it wakes is refused', async () => {
    const application_name = `frozen_${schemas}`
    const pool = poolOf({ max: 1, application_name })
    const { store } = open({ pool, deadlineMs: 500 })
    await store.commit('p', { ops: [append('x')] })
    const backends = () =>
      admin(`SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query NOT LIKE 'LISTEN%'`, [
        application_name,
      ])
    const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
    const pid = rows[0].pid as number
    const write = () => store.commit('p', { guards: [{ guard: 'head', seq: 1 }], ops: [append('y')] })
    process.kill(pid, 'SIGSTOP')
    try {
      expect((await unavailable(write())).written).toBe('unknown')
      expect((await write()).head).toBe(2)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await vi.waitFor(async () => expect((await backends()).map((row) => row.pid)).not.toContain(pid), later)
    expect((await store.inspect('p')).head).toBe(2)
  })

  test('a statement that the server gives up by its own timeout was not written', async () => {
    const schema = `faults_${schemas + 1}`
    await open({ schema }).store.commit('p', { ops: [append('x')] })
    const { store } = open({ schema, pool: poolOf({ options: '-c statement_timeout=150' }) })
    const release = await holdPartition(schema)
    const error = await unavailable(store.commit('p', { ops: [append('y')] }))
    expect(error).toMatchObject({ written: 'no', cause: { code: '57014' } })
    await release()
    expect((await store.commit('p', { ops: [append('y')] })).head).toBe(2)
  })

  test('what was unknown at a crash is found out by its guard: every event is there once, whenever it comes', async () => {
    const server = await startPostgres()
    cleanups.push(server.remove)
    const at = { url: server.url, schema: 'crashes' }
    const reader = open({ ...at, deadlineMs: 30_000 }).store
    await reader.setup()
    const { store } = open({ ...at, deadlineMs: 1_000 })
    let done = false
    let head = 0
    const write = async () => {
      while (!done) {
        const guards = [{ guard: 'head', seq: head }] as const
        const outcome = await store
          .commit('p', { guards, ops: [append(`${head + 1}`)] })
          .catch((error) => error)
        // A conflict: there is one writer, so what it did not hear of was written.
        if (outcome.name === 'UnavailableError') await new Promise((resolve) => setTimeout(resolve, 10))
        else head += 1
      }
    }
    const writing = write()
    for (let crash = 1; crash <= CRASHES; crash++) {
      const before = head
      await vi.waitFor(() => expect(head).toBeGreaterThan(before + 20), later)
      await server.stop('immediate')
      await server.start()
    }
    const before = head
    await vi.waitFor(() => expect(head).toBeGreaterThan(before + 5), later)
    done = true
    await writing
    const texts = (await readAll(reader, 'p')).map(({ seq, text }) => `${seq} ${text}`)
    expect(texts).toEqual(Array.from({ length: head }, (_, i) => `${i + 1} ${i + 1}`))
  })

  test('writes to a read-only database fail with a typed error, and reads go on', async () => {
    const schema = `faults_${schemas + 1}`
    await open({ schema }).store.commit('p', { ops: [append('x')] })
    const { store } = open({ schema, pool: poolOf({ options: '-c default_transaction_read_only=on' }) })
    expect((await unavailable(store.commit('p', { ops: [append('y')] }))).written).toBe('no')
    expect((await store.read('p', { after: 0 })).count).toBe(1)
  })

  test('close ends what is under way and every connection of its own, and the pool stays the user’s', async () => {
    const pool = poolOf({ application_name: 'closing', max: 3 })
    const storage = open({ pool })
    await storage.setup()
    storage.store.watch('p', () => {})
    const commits = Array.from({ length: 20 }, (_, i) => storage.store.commit('p', { ops: [append(`${i}`)] }))
    await storage.close()
    expect((await Promise.all(commits)).length).toBe(20)
    await unavailable(storage.store.read('p', { after: 0 }))
    await unavailable(storage.checkpointer.getTuple({ configurable: { thread_id: 'p' } }))
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(pool.idleCount).toBe(pool.totalCount)
    await vi.waitFor(async () => {
      const open = await admin(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'closing'`,
      )
      expect(open[0]!.n).toBe(pool.totalCount)
    }, later)
  })
})
