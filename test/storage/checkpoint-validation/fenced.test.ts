import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../../src/storage/checkpointer/fenced.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { validateSaver } from './validate.ts'

async function fenced(inner: Checkpointer): Promise<BaseCheckpointSaver> {
  const store = memoryStore()
  await store.commit('run', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
  return fencedCheckpointer(inner, store, 'run', 1) as BaseCheckpointSaver
}

await validateSaver('fenced memoryCheckpointer', () => fenced(memoryCheckpointer()))
// Its own name: the suite leaves out the case that this saver cannot pass.
await validateSaver('MemorySaver', () => fenced(new MemorySaver() as unknown as Checkpointer))
