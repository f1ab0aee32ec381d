import Database from 'libsql'
import { expect, test } from 'vitest'
import { readAll } from '../../../src/audit/store/rule.ts'
import { migrations } from '../../../src/storage/sqlite/migrations.ts'
import { sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import { chunksOf } from '../../../src/storage/store/log-layout.ts'
import { temporaryFiles } from './file.ts'
import { startPeer } from './peer.ts'

const ROUNDS = Number(process.env.MIGRATIONS ?? 5)
const file = temporaryFiles()
const events = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    topic: `t${i % 2}`,
    data: new TextEncoder().encode(`${from + i}`),
  }))

/** A file as version 1 writes it, spelled out: one partition that lost its first 10 events, and another without events. */
function fileOfVersion1(): string {
  const path = file()
  const database = new Database(path)
  database.exec(`${migrations[0]!('agentwire_', () => false)}
    CREATE TABLE agentwire_schema_version (version INTEGER NOT NULL); INSERT INTO agentwire_schema_version VALUES (1);
    INSERT INTO agentwire_partitions VALUES (1, 'other', 0, 1, 0, 0, 0, NULL, NULL, NULL, 1);
    INSERT INTO agentwire_partitions VALUES (2, 'p', 40, 11, 71, 7, 3, 'o', 7, 99999999999999, 2)`)
  const insert = database.prepare('INSERT INTO agentwire_log VALUES (2, ?, ?, ?, ?, 1000, ?, ?)')
  let bytes = 11
  for (const [from, to] of [
    [11, 11],
    [12, 40],
  ] as const) {
    const [chunk] = chunksOf(7, events(from, to))
    const { layout, data } = chunk!
    insert.run(to, from, bytes, bytes + data.length, layout, data)
    bytes += data.length
  }
  database.close()
  return path
}

test('a file of version 1 keeps its log, its counters and its lease', async () => {
  const { store, report, close } = sqliteStorage({ url: fileOfVersion1() })
  expect((await report()).schema).toEqual({ version: 1, newest: migrations.length })
  expect(await store.inspect('p')).toMatchObject({
    head: 40,
    firstRetained: 11,
    token: 7,
    lease: { owner: 'o' },
  })
  const texts = async () => (await readAll(store, 'p')).map(({ seq, text }) => `${seq} ${text}`)
  const expected = Array.from({ length: 30 }, (_, i) => `${i + 11} ${i + 11}`)
  expect(await texts()).toEqual(expected)
  const op = { op: 'append', token: 7, events: events(41, 45) } as const
  const guards = [{ guard: 'fence', token: 7 }] as const
  expect((await store.commit('p', { guards, ops: [op] })).head).toBe(45)
  expect(await texts()).toEqual([...expected, ...[41, 42, 43, 44, 45].map((seq) => `${seq} ${seq}`)])
  expect((await store.commit('other', { ops: [op] })).head).toBe(5)
  expect((await report()).schema.version).toBe(migrations.length)
  await close()
})

test(
  'two processes that open such a file at once both succeed, every time',
  async () => {
    const peer = await startPeer()
    for (let round = 0; round < ROUNDS; round++) {
      const url = fileOfVersion1()
      const there = peer.call({ url, partition: 'p', count: 1 })
      const storage = sqliteStorage({ url })
      const here = await storage.store.commit('p', {
        ops: [{ op: 'append', token: 7, events: events(41, 41) }],
      })
      expect([here.head, ...((await there) as number[])].sort()).toEqual([41, 42])
      expect((await storage.report()).counts).toMatchObject({ partitions: 2, events: 32 })
      await storage.close()
    }
    await peer.kill()
  },
  20_000 + ROUNDS * 1_000,
)

test('a file of version 1 counts what it had before', async () => {
  const path = fileOfVersion1()
  const database = new Database(path)
  const field = database.prepare("INSERT INTO agentwire_fields VALUES ('c', ?, ?, 'p', ?)")
  for (const [name, key, id] of [
    ['a', 1, 'd'],
    ['a', 2, 'e'],
    ['b', '1', 'd'],
  ] as const)
    field.run(name, key, id)
  const document = database.prepare("INSERT INTO agentwire_documents VALUES ('p', 'c', ?, 1, NULL, ?, '1')")
  document.run('d', '{"a":1,"b":"1"}')
  document.run('e', '{"a":2}')
  database.close()
  const { store, close } = sqliteStorage({ url: path })
  const counts = async () => [await store.count('c', 'a'), await store.count('c', 'b')]
  expect(await counts()).toEqual([2, 1])
  await store.commit('p', {
    ops: [
      { op: 'delete', collection: 'c', id: 'e' },
      { op: 'put', collection: 'c', id: 'd', value: 1, index: { a: 3 } },
    ],
  })
  expect(await counts()).toEqual([1, 0])
  expect((await store.list('c', { orderBy: 'a' })).docs.map(({ id }) => id)).toEqual(['d'])
  await close()
})
