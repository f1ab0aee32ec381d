import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { fencedCheckpointer } from '../../../src/storage/fenced.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { validateSaver } from '../checkpoint-validation/validate.ts'
import { temporaryFiles } from './file.ts'

const file = temporaryFiles()

await validateSaver('sqliteStorage', (): BaseCheckpointSaver => sqliteStorage({ url: file() }).checkpointer)
await validateSaver('fenced sqliteStorage', async () => {
  const { store, checkpointer } = sqliteStorage({ url: file() })
  await store.commit('run', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
  return fencedCheckpointer(checkpointer, store, 'run', 1) as BaseCheckpointSaver
})
