import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { migrations } from '../../../src/storage/postgres/migrate.ts'
import { type PostgresStorageOptions, postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import { bundleOf } from '../../kit/bundle.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'

const ROUNDS = Number(process.env.MIGRATIONS ?? 5)

describe.runIf(hasPostgres())('the setup of postgresStorage', async () => {
  const url = await sharedPostgres()
  const pool = new pg.Pool({ connectionString: url })
  afterAll(() => pool.end())

  async function child(): Promise<ChildProcess> {
    const made = fork(await bundleOf('test/storage/postgres/migrating-child.ts'), [url])
    await once(made, 'message')
    return made
  }

  test(
    'two processes that set up an empty database at once both succeed, every time',
    async () => {
      const children = await Promise.all([child(), child()])
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const schema = `setup_${round}`
          const answers = children.map((each) => once(each, 'message'))
          for (const each of children) each.send(schema)
          expect((await Promise.all(answers)).map(([answer]) => answer)).toEqual(['done', 'done'])
          const { rows } = await pool.query(`SELECT version FROM ${schema}.agentwire_schema_version`)
          expect(rows).toEqual([{ version: migrations.length }])
          expect((await postgresStorage({ pool, schema }).store.list('c')).docs.length).toBe(2)
        }
      } finally {
        for (const each of children) each.kill()
      }
    },
    20_000 + ROUNDS * 1_000,
  )

  test('a user without the right to create anything may use what is set up', async () => {
    await postgresStorage({ pool, schema: 'granted' }).setup()
    await pool.query('CREATE ROLE guest LOGIN')
    await pool.query('GRANT USAGE ON SCHEMA granted TO guest')
    await pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA granted TO guest')
    const guest = postgresStorage({ url: url.replace('postgres@', 'guest@'), schema: 'granted' })
    await guest.setup()
    const { versions } = await guest.store.commit('p', {
      ops: [{ op: 'put', collection: 'c', id: 'd', value: 1 }],
    })
    expect((await guest.store.get('p', 'c', 'd'))?.version).toBe(versions[0])
    const checkpoint = {
      v: 4,
      id: '1',
      ts: '',
      channel_values: { a: 1 },
      channel_versions: { a: 1 },
      versions_seen: {},
    }
    const config = { configurable: { thread_id: 't' } }
    await guest.checkpointer.put(config, checkpoint, { source: 'loop', step: 1, parents: {} }, { a: 1 })
    expect((await guest.checkpointer.get(config))?.channel_values).toEqual({ a: 1 })
    await guest.close()
    const elsewhere = postgresStorage({ url: url.replace('postgres@', 'guest@'), schema: 'forbidden' })
    await expect(elsewhere.setup()).rejects.toMatchObject({
      name: 'UnavailableError',
      cause: { code: '42501' },
    })
    await elsewhere.close()
    const broken = new pg.Pool({ connectionString: url.replace('postgres@', 'guest@'), max: 1 })
    await expect(postgresStorage({ pool: broken, schema: 'forbidden' }).setup()).rejects.toThrow()
    // The one connection is not left in a transaction that has failed.
    expect((await broken.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await broken.end()
  })

  test('installations with other prefixes, or in the schema of the search path, are apart', async () => {
    await pool.query('CREATE SCHEMA found')
    const through = `${url}?options=${encodeURIComponent('-c search_path=found')}`
    const storages = [
      postgresStorage({ pool, schema: 'found', prefix: 'one_' }),
      postgresStorage({ pool, schema: 'found', prefix: 'two_' }),
      postgresStorage({ url: through }),
      postgresStorage({ pool, schema: 'found' }),
    ]
    const counts = []
    for (const { store } of storages) {
      await store.commit('p', {
        ops: [{ op: 'append', token: 1, events: [{ topic: 't', data: new Uint8Array(1) }] }],
      })
      counts.push((await store.inspect('p')).head)
    }
    expect(counts).toEqual([1, 1, 1, 2])
    await Promise.all(storages.map(({ close }) => close()))
  })

  test('a database of a newer library, or one that cannot hold every text, is refused with what to do', async () => {
    await postgresStorage({ pool, schema: 'newer' }).setup()
    await pool.query('UPDATE newer.agentwire_schema_version SET version = version + 1')
    await expect(postgresStorage({ pool, schema: 'newer' }).setup()).rejects.toMatchObject({
      code: 'unfit_database',
      message: expect.stringContaining('update'),
    })
    await pool.query(`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
    const latin = postgresStorage({ url: url.replace(/postgres$/, 'latin') })
    await expect(latin.store.get('p', 'c', 'd')).rejects.toMatchObject({ code: 'unfit_database' })
    await latin.close()
  })

  test('options that cannot work are refused at once', () => {
    const wrong: PostgresStorageOptions[] = [
      {},
      { pool, url },
      { pool, prefix: 'With-Dash' },
      { pool, prefix: '' },
      { pool, schema: 'a"b' },
      { pool, schema: '' },
    ]
    for (const options of wrong) {
      expect(() => postgresStorage(options)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    }
  })

  test('something that is no pool of pg, and an address that leads nowhere, are typed errors', async () => {
    const noPool = postgresStorage({
      pool: { connect: () => pool.connect(), on() {}, listenerCount: () => 1 },
    })
    await expect(noPool.setup()).rejects.toMatchObject({ code: 'invalid_argument' })
    const nowhere = postgresStorage({ url: 'postgres://someone:secret@127.0.0.1:1/none' })
    const error = await nowhere.setup().catch((reason: Error) => reason)
    expect(error).toMatchObject({ name: 'UnavailableError', written: 'no', cause: { code: 'ECONNREFUSED' } })
    expect(inspect(error, { depth: 9 })).not.toContain('secret')
    await nowhere.close()
    const unreadable = postgresStorage({ url: 'postgres://someone:secret@[/none' })
    const refusal = await unreadable.setup().catch((reason: Error) => reason)
    expect(refusal).toMatchObject({ name: 'UnavailableError', written: 'no' })
    expect(inspect(refusal, { depth: 9 })).not.toContain('secret')
    await unreadable.close()
  })
})
