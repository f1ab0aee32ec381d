import pg from 'pg'
import { afterAll, describe, test, vi } from 'vitest'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import { storeAudits } from '../../../src/audit/store.ts'
import { postgresStorage } from '../../../src/storage/postgres.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres-server.ts'

// The audit of a bell that throws makes the store report it.
vi.spyOn(console, 'error').mockImplementation(() => {})

describe.runIf(hasPostgres())('postgresStorage', async () => {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  afterAll(() => pool.end())
  const open = () => postgresStorage({ pool, schema: 'audits' })
  for (const { id, name, fn } of storeAudits({ create: () => open().store, reopens: true, sequences: 12 })) {
    test(`${id}: ${name}`, fn)
  }
  for (const { id, name, fn } of checkpointerAudits({ create: open })) test(`${id}: ${name}`, fn)
})
