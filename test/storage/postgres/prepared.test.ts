import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { type PostgresPool, postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import type { Op } from '../../../src/storage/store/store.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'

const append: Op = { op: 'append', token: 1, events: [{ topic: 't', data: new Uint8Array(5) }] }

describe.runIf(hasPostgres())('postgresStorage', async () => {
  const url = await sharedPostgres()
  const cleanups: (() => Promise<unknown>)[] = []
  let schemas = 0

  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
  })

  /** A storage over a pool of one connection. */
  function open(view: (pool: pg.Pool) => PostgresPool) {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    const { store, close } = postgresStorage({ pool: view(pool), schema: `prepared_${++schemas}` })
    cleanups.push(
      () => pool.end(),
      () => close(),
    )
    const prepared = async () => (await pool.query('SELECT name FROM pg_prepared_statements')).rows
    return { pool, store, prepared }
  }

  test('prepares what it asks often, once a connection', async () => {
    const { store, prepared } = open((pool) => pool)
    await store.get('p', 'c', 'd')
    const before = await prepared()
    expect(before.length).toBe(1)
    await store.get('p', 'c', 'e')
    expect(await prepared()).toEqual(before)
    // Its conditions and order are those of the query, of which there are many.
    await store.list('c', { where: { a: 1 } })
    expect(await prepared()).toEqual(before)
  })

  test('goes on without where others have dropped what was prepared, and writes once', async () => {
    const { pool, store, prepared } = open((pool) => pool)
    for (let head = 1; head <= 2; head++) expect((await store.commit('p', { ops: [append] })).head).toBe(head)
    await pool.query('DEALLOCATE ALL')
    expect((await store.commit('p', { ops: [append] })).head).toBe(3)
    expect((await store.commit('p', { ops: [append] })).head).toBe(4)
    expect(await prepared()).toEqual([])
  })

  test('prepares nothing where a pooler answers for the server', async () => {
    const { store, prepared } = open((pool) => {
      const connect = async () => {
        const client = await pool.connect()
        // A pooler makes up the number that it tells.
        return new Proxy(client, {
          get(target, name) {
            if (name === 'processID') return (target as unknown as { processID: number }).processID + 1
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      }
      return Object.assign(Object.create(pool), { connect }) as PostgresPool
    })
    expect((await store.commit('p', { ops: [append] })).head).toBe(1)
    expect((await store.inspect('p')).head).toBe(1)
    expect(await prepared()).toEqual([])
  })
})
