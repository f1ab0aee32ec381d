import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import pg from 'pg'
import { afterAll } from 'vitest'
import { fencedCheckpointer } from '../../../src/storage/fenced.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres-server.ts'
import { validateSaver } from '../checkpoint-validation/validate.ts'

if (hasPostgres()) {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  let opened = 0
  const open = () => postgresStorage({ pool, schema: 'validation', prefix: `s${++opened}_` })
  await validateSaver('postgresStorage', (): BaseCheckpointSaver => open().checkpointer)
  await validateSaver('fenced postgresStorage', async () => {
    const { store, checkpointer } = open()
    await store.commit('run', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
    return fencedCheckpointer(checkpointer, store, 'run', 1) as BaseCheckpointSaver
  })
  afterAll(() => pool.end())
}
