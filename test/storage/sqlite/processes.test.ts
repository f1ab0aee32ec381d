import { afterAll, expect, test } from 'vitest'
import { readAll } from '../../../src/audit/store/rule.ts'
import { sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { temporaryFiles } from './file.ts'
import { startPeer } from './peer.ts'

const file = temporaryFiles()
const peer = await startPeer()
afterAll(() => peer.kill())

const event = (text: string) => ({ topic: 'here', data: new TextEncoder().encode(text) })

async function appendHere(store: Store, partition: string, count: number): Promise<number[]> {
  const heads: number[] = []
  for (let i = 0; i < count; i++) {
    const { head } = await store.commit(partition, {
      ops: [{ op: 'append', token: 1, events: [event(`here ${i}`)] }],
    })
    heads.push(head)
  }
  return heads
}

const ROUNDS = Number(process.env.MIGRATIONS ?? 5)

test(
  'two processes that migrate an empty file at once both succeed, every time',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const url = `file:${file()}`
      const there = peer.call({ url, partition: 'p', count: 1 })
      const storage = sqliteStorage({ url })
      await storage.setup()
      const here = await appendHere(storage.store, 'p', 1)
      expect([...here, ...((await there) as number[])].sort()).toEqual([1, 2])
      await storage.close()
    }
  },
  20_000 + ROUNDS * 1_000,
)

test('two processes append to one log: no number is missing or issued twice, and each keeps its order', async () => {
  const url = `file:${file()}`
  const storage = sqliteStorage({ url })
  await storage.setup()
  const there = peer.call({ url, partition: 'p', count: 300 })
  const here = await appendHere(storage.store, 'p', 300)
  const heads = [...here, ...((await there) as number[])].sort((a, b) => a - b)
  expect(heads).toEqual(Array.from({ length: 600 }, (_, i) => i + 1))
  const texts = (await readAll(storage.store, 'p')).map(({ text }) => text)
  for (const who of ['here', 'peer']) {
    const own = texts.filter((text) => text.startsWith(who))
    expect(own).toEqual(Array.from({ length: 300 }, (_, i) => `${who} ${i}`))
  }
  await storage.close()
})

test('notifies of what another process commits, and of nothing else', async () => {
  const url = `file:${file()}`
  const storage = sqliteStorage({ url })
  await storage.setup()
  const notified = new Promise<void>((resolve) => storage.store.watch('p', ({ log }) => log && resolve()))
  let others = 0
  storage.store.watch('other', () => {
    others += 1
  })
  expect(await peer.call({ url, partition: 'p', count: 3 })).toEqual([1, 2, 3])
  await notified
  expect((await storage.store.inspect('p')).head).toBeGreaterThan(0)
  expect(others).toBe(0)
  await storage.close()
})

test('a process that is killed while it writes leaves a whole log, and no lock', async () => {
  const url = `file:${file()}`
  const storage = sqliteStorage({ url })
  await storage.setup()
  const victim = await startPeer()
  const gone = victim.call({ url, partition: 'p', count: 1_000_000 }).catch((error: Error) => error.message)
  await new Promise<void>((resolve) => {
    storage.store.watch('p', async () => {
      if ((await storage.store.inspect('p')).head > 20) resolve()
    })
  })
  await victim.kill()
  expect(await gone).toBe('The peer is gone.')
  const { head } = await storage.store.inspect('p')
  const seqs = (await readAll(storage.store, 'p')).map(({ seq, text }) => `${seq} ${text}`)
  expect(seqs).toEqual(Array.from({ length: head }, (_, i) => `${i + 1} peer ${i}`))
  expect(await appendHere(storage.store, 'p', 1)).toEqual([head + 1])
  await storage.close()
})
