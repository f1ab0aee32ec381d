import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import pg from 'pg'
import { afterAll } from 'vitest'
import { fencedCheckpointer } from '../../../src/storage/fenced.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres-server.ts'
import { validateSaver } from '../checkpoint-validation/validate.ts'

if (hasPostgres()) {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  const storage = postgresStorage({ pool, schema: 'validation' })
  let token = 0
  // The suite wants an empty saver each time; a new schema each time would take most of its time.
  const empty = async () => {
    await storage.setup()
    await pool.query('TRUNCATE validation.agentwire_checkpoints, validation.agentwire_channel_values')
    await pool.query('TRUNCATE validation.agentwire_writes')
    return storage
  }
  await validateSaver('postgresStorage', async () => (await empty()).checkpointer as BaseCheckpointSaver)
  await validateSaver('fenced postgresStorage', async () => {
    const { store, checkpointer } = await empty()
    token += 1
    await store.commit('run', { ops: [{ op: 'claim', owner: 'o', token, ttlMs: 600_000 }] })
    return fencedCheckpointer(checkpointer, store, 'run', token) as BaseCheckpointSaver
  })
  afterAll(async () => {
    await storage.close()
    await pool.end()
  })
}
