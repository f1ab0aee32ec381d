// A process of its own. It does what the lines of its input say, and answers each with one line of JSON.
import { createInterface } from 'node:readline'
import { type DurableStorage, sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import type { PeerCall } from './peer.ts'

async function append({ store }: DurableStorage, partition: string, count: number): Promise<number[]> {
  const heads: number[] = []
  for (let i = 0; i < count; i++) {
    const events = [{ topic: 'peer', data: new TextEncoder().encode(`peer ${i}`) }]
    const { head } = await store.commit(partition, { ops: [{ op: 'append', token: 2, events }] })
    heads.push(head)
  }
  return heads
}

async function answer({ url, partition, count }: PeerCall): Promise<unknown> {
  const storage = sqliteStorage({ url })
  try {
    await storage.setup()
    return await append(storage, partition, count)
  } finally {
    await storage.close()
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await answer(JSON.parse(line)).catch((error: Error) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
