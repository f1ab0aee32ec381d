import pg from 'pg'
import { afterAll, describe } from 'vitest'
import { postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../kit/postgres-server.ts'
import { auditStorage } from '../suites.ts'

describe.runIf(hasPostgres())('over Postgres', async () => {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  afterAll(() => pool.end())
  auditStorage('postgresStorage', () => postgresStorage({ pool, schema: 'audits' }), 12)
})
