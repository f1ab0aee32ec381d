import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../src/storage/postgres/postgres.ts'

test.each([
  ['a URL', () => ({ url: 'postgres://me:s3cret@127.0.0.1:1/db' }), 'at 127.0.0.1:1.'],
  [
    'a pool',
    () => ({ pool: new Pool({ host: '::1', port: 1, user: 'me', password: 's3cret' }) }),
    'at [::1]:1.',
  ],
  [
    'a pool over a socket of the machine',
    () => ({ pool: new Pool({ host: '/nowhere', user: 'me', password: 's3cret' }) }),
    'at /nowhere.',
  ],
])('a Postgres that cannot be reached is named, without its password: %s', async (_, connection, place) => {
  const storage = postgresStorage(connection())
  onTestFinished(() => storage.store.close())
  const error = await storage.store.setup().catch((thrown: Error) => thrown)
  expect(error).toMatchObject({ code: 'unavailable', message: `Postgres cannot be reached ${place}` })
  expect(JSON.stringify({ ...(error as Error), text: String(error) })).not.toContain('s3cret')
})
