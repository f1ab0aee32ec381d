import pg from 'pg'
import { afterAll, describe } from 'vitest'
import { postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'
import { validateStorage } from '../suites.ts'

describe.runIf(hasPostgres())('over Postgres', async () => {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  const storage = postgresStorage({ pool, schema: 'validation' })
  // A new schema each time would take most of the suite's time.
  await validateStorage('postgresStorage', async () => {
    await storage.setup()
    await pool.query('TRUNCATE validation.agentwire_checkpoints, validation.agentwire_channel_values')
    await pool.query('TRUNCATE validation.agentwire_writes')
    return storage
  })
  afterAll(async () => {
    await storage.close()
    await pool.end()
  })
})
