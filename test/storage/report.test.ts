import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite/sqlite.ts'
import type { Op } from '../../src/storage/store/store.ts'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { durableBackends } from './durable.ts'

const append = (count: number): Op => ({
  op: 'append',
  token: 1,
  events: Array.from({ length: count }, () => ({ topic: 't', data: new Uint8Array(10) })),
})
const put = (id: string, ttlMs?: number): Op => ({
  op: 'put',
  collection: 'c',
  id,
  value: 1,
  ...(ttlMs && { ttlMs }),
})
const claim = (ttlMs: number): Op => ({ op: 'claim', owner: 'o', token: 1, ttlMs })
const checkpoint = { v: 4, id: '1', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} }

describe.each(durableBackends())('the report of $name', ({ name, create }) => {
  test('says what is there, and sets nothing up', async () => {
    const open = await create()
    const storage = open()
    const empty = await storage.report()
    expect(empty).toMatchObject({
      name,
      reachable: true,
      schema: { version: 0, newest: expect.any(Number) },
      durable: true,
      counts: { partitions: 0, documents: 0, events: 0, leases: 0, checkpoints: 0 },
      bytes: 0,
    })
    expect((await open().report()).schema.version).toBe(0)
    const { store, checkpointer, setup } = storage
    await setup()
    const { newest } = empty.schema
    expect(await storage.report()).toMatchObject({
      schema: { version: newest, newest },
      counts: empty.counts,
    })
    await store.commit('a', { ops: [append(30), put('x'), put('y', 60_000), claim(60_000)] })
    await store.commit('b', { ops: [append(5), claim(1)] })
    await store.commit('c', { ops: [put('z'), { op: 'clear' }] })
    await store.trim('a', { keepLast: 10 })
    await checkpointer.put(
      { configurable: { thread_id: 't' } },
      checkpoint,
      { source: 'loop', step: 1, parents: {} },
      {},
    )
    await expect.poll(async () => (await store.expired()).length).toBe(1)
    const { counts, bytes } = await open().report()
    expect(counts).toEqual({ partitions: 3, documents: 2, events: 15, leases: 1, checkpoints: 1 })
    expect(bytes).toBeGreaterThan(1_000)
  })

  test('fails with a typed error once the storage is closed', async () => {
    const storage = (await create())()
    await storage.close()
    await expect(storage.report()).rejects.toMatchObject({ name: 'UnavailableError' })
  })
})

test('sqlite: no file is made by a report, and none that could not be made is called reachable', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'agentwire-report-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const report = (...path: string[]) => sqliteStorage({ url: join(directory, ...path) }).report()
  for (let i = 0; i < 2; i++) {
    expect((await report('new.db')).warnings).toEqual(['The file does not exist yet.'])
  }
  await expect(report('no', 'such.db')).rejects.toMatchObject({ name: 'UnavailableError' })
})

describe.runIf(hasPostgres())('postgres', () => {
  test('warns of settings that make a crash lose what was acknowledged', async () => {
    const options = encodeURIComponent('-c synchronous_commit=off')
    const storage = postgresStorage({ url: `${await sharedPostgres()}?options=${options}` })
    onTestFinished(() => storage.close())
    const { durable, warnings } = await storage.report()
    expect(durable).toBe(false)
    // The server of the tests has fsync off.
    expect(warnings).toEqual([
      expect.stringContaining('synchronous_commit'),
      expect.stringContaining('fsync'),
    ])
  })

  test('fails with a typed error while the server is away', async () => {
    const storage = postgresStorage({ url: 'postgres://nobody@127.0.0.1:1/none' })
    onTestFinished(() => storage.close())
    await expect(storage.report()).rejects.toMatchObject({ name: 'UnavailableError' })
  })
})
