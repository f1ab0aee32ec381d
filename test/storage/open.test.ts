import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UnavailableError } from '../../src/storage/errors.ts'
import { openStorage, withoutPassword } from '../../src/storage/open.ts'
import { redisStorage } from '../../src/storage/redis/redis.ts'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { hasRedis, startRedis } from '../kit/redis-server.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentwire-open-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['a path', (name: string) => join(folder, name)],
  ['file:path', (name: string) => `file:${join(folder, name)}`],
  ['file://', (name: string) => pathToFileURL(join(folder, name)).href],
])('%s is a SQLite file, and keeps what it is told', async (name, urlOf) => {
  const url = urlOf(`${name.replaceAll(/\W/g, '')}.db`)
  await keepsWhatItIsTold(url, 'sqlite')
  const again = await openStorage(url)
  expect((await again.store.get('p', 'c', 'd'))?.value).toBe('kept')
  await again.close()
})

test('memory: is in memory, anew each time', async () => {
  await keepsWhatItIsTold('memory:', 'memory')
  const { store } = await openStorage('memory:')
  expect(await store.get('p', 'c', 'd')).toBeUndefined()
})

test.each([
  ['memory:', false],
  ['file', true],
])('%s says whether other processes share it and whether it lasts', async (name, lasts) => {
  const { store, close } = await openStorage(lasts ? join(folder, name) : name)
  expect(store.capabilities).toMatchObject({ shared: lasts, durable: lasts })
  await close()
  await expect(store.get('p', 'c', 'd')).rejects.toBeInstanceOf(UnavailableError)
})

describe.runIf(hasPostgres())('Postgres', () => {
  test.each(['postgres', 'postgresql'])('%s://, with a prefix', async (scheme) => {
    const url = (await sharedPostgres()).replace('postgres:', `${scheme}:`)
    await keepsWhatItIsTold(url, 'postgres', `${scheme}_`)
  })

  test('a server that refuses is reported without its password', async () => {
    const url = new URL(await sharedPostgres())
    url.password = 's3cret'
    url.pathname = '/nothing'
    await tellsNoPassword(url.href)
  })
})

describe.runIf(hasRedis())('Redis', () => {
  test('redis://, with a prefix', async () => {
    const server = await startRedis()
    await keepsWhatItIsTold(server.url, 'redis', 'mine:')
    await server.remove()
  })
})

test.each([
  'redis://me:s3cret@127.0.0.1:1/0',
  'rediss://me:s3cret@127.0.0.1:1/0',
  'postgres://me:s3cret@127.0.0.1:1/db',
  'postgres://127.0.0.1:1/db?password=s3cret',
])('%s: no error tells the password', tellsNoPassword)

test.each([
  [
    'mysql://me:s3cret@127.0.0.1/db',
    /^Unsupported storage URL scheme mysql:\. Supported: file:… or a path, postgres:/,
  ],
  ['', /^The URL of the storage is empty\. Supported: file:/],
  [
    'redis://me:s3cret@127.0.0.1:none/0',
    /^The URL that begins with redis: cannot be read\. .+encodeURIComponent/,
  ],
  ['postgres://me:s3cret/@127.0.0.1/db', /^The URL that begins with postgres: cannot be read/],
  ['postgres://me:s3cret@[::bad/db', /^The URL that begins with postgres: cannot be read/],
  ['  ', /^The URL of the storage is empty\./],
])('“%s” is refused in a sentence', async (url, message) => {
  const error = await openStorage(url).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(message) })
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret')
})

test('redisStorage alone tells no password of a URL that cannot be read', async () => {
  const { setup, close } = redisStorage({ url: 'redis://me:s3cret@127.0.0.1:none/0' })
  const error = await setup().catch((caught: unknown) => caught)
  expect(error).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('cannot be read'),
  })
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret')
  await close()
})

test('a URL is shown without password and parameters', () => {
  expect(withoutPassword('postgres://me:s3cret@db:5432/agents?password=s3cret')).toBe(
    'postgres://me@db:5432/agents',
  )
  expect(withoutPassword('redis://:s3cret@127.0.0.1:6379')).toBe('redis://127.0.0.1:6379')
  expect(withoutPassword('rediss://127.0.0.1/0')).toBe('rediss://127.0.0.1/0')
  expect(withoutPassword('postgres:///agents?host=/run&password=s3cret')).toBe('postgres:///agents')
  expect(withoutPassword('postgres://me:s3cret@db:none/')).toBe('postgres://…')
  expect(withoutPassword('file:agents.db')).toBe('file:agents.db')
  expect(withoutPassword('/data/agents.db')).toBe('/data/agents.db')
  expect(withoutPassword('C:\\agents.db')).toBe('C:\\agents.db')
})

test('no password is ever shown, whatever it is made of', () => {
  const awkward = fc.string({ unit: fc.constantFrom(...'a1/@:?#[]%\\ ') })
  fc.assert(
    fc.property(
      fc.constantFrom('postgres', 'rediss', 'mysql'),
      awkward,
      fc.boolean(),
      (scheme, some, encoded) => {
        const password = `${some}s3cret`
        const shown = withoutPassword(
          `${scheme}://me:${encoded ? encodeURIComponent(password) : password}@db:1/x`,
        )
        expect(shown).not.toContain('s3cret')
        if (encoded) expect(shown).toBe(`${scheme}://me@db:1/x`)
      },
    ),
  )
})

test('memory counts what it holds', async () => {
  const { store, checkpointer, report } = await openStorage('memory:')
  const data = new Uint8Array(100)
  await store.commit('one', {
    ops: [
      { op: 'claim', owner: 'me', token: 1, ttlMs: 600_000 },
      { op: 'append', token: 1, events: Array.from({ length: 12 }, () => ({ topic: 'x', data })) },
    ],
  })
  await store.trim('one', { keepLast: 10 })
  await store.commit('two', {
    ops: [
      { op: 'put', collection: 'c', id: 'd', value: 1 },
      // Expired at once.
      { op: 'claim', owner: 'me', token: 1, ttlMs: 0 },
    ],
  })
  const checkpoint = { v: 4, id: '1', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} }
  const config = { configurable: { thread_id: 'one' } }
  await checkpointer.put(config, checkpoint, { source: 'input', step: -1, parents: {} }, {})
  const { counts, bytes, durable, reachable, warnings } = await report()
  expect(counts).toEqual({ partitions: 2, documents: 1, events: 10, leases: 1, checkpoints: 1 })
  expect(bytes).toBeGreaterThanOrEqual(1_000)
  expect({ durable, reachable }).toEqual({ durable: false, reachable: true })
  expect(warnings).toEqual([expect.stringContaining('everything is lost')])
  await store.commit('two', { ops: [{ op: 'clear' }] })
  await store.commit('one', { ops: [{ op: 'clear' }] })
  await checkpointer.deleteThread('one')
  const after = await report()
  expect(after.counts).toEqual({ partitions: 2, documents: 0, events: 0, leases: 0, checkpoints: 0 })
  expect(after.bytes).toBe(0)
})

async function keepsWhatItIsTold(url: string, name: string, prefix?: string): Promise<void> {
  const { store, checkpointer, setup, close } = await openStorage(url, { prefix })
  await setup()
  expect(store.capabilities.name).toBe(name)
  await store.commit('p', { ops: [{ op: 'put', collection: 'c', id: 'd', value: 'kept' }] })
  expect((await store.get('p', 'c', 'd'))?.value).toBe('kept')
  expect(await checkpointer.getTuple({ configurable: { thread_id: 'p' } })).toBeUndefined()
  await close()
}

async function tellsNoPassword(url: string): Promise<void> {
  const { setup, close } = await openStorage(url, { deadlineMs: 2_000 })
  const error = await setup().catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(Error)
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret')
  await close()
}
