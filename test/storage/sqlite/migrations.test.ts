import { expect, test } from 'vitest'
import { migrations } from '../../../src/storage/sqlite/migrate.ts'
import { sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import { temporaryFiles } from './file.ts'
import { startPeer } from './peer.ts'

const ROUNDS = Number(process.env.MIGRATIONS ?? 5)
const file = temporaryFiles()

test('two processes that open a new file at once both succeed, every time', async () => {
  const peer = await startPeer()
  for (let round = 0; round < ROUNDS; round++) {
    const url = file()
    const there = peer.call({ url, partition: 'p', count: 1 })
    const storage = sqliteStorage({ url })
    const here = await storage.store.commit('p', {
      ops: [{ op: 'append', token: 0, events: [{ topic: 't', data: new Uint8Array([1]) }] }],
    })
    expect([here.head, ...((await there) as number[])].sort()).toEqual([1, 2])
    const { schema, counts } = await storage.report()
    expect(schema).toEqual({ version: migrations.length, newest: migrations.length })
    expect(counts).toMatchObject({ partitions: 1, events: 2 })
    await storage.close()
  }
  await peer.kill()
})
