import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { AgentwireError } from '../../../src/core/errors.ts'
import { UnavailableError } from '../../../src/storage/errors.ts'
import { openFile } from '../../../src/storage/sqlite/connection.ts'
import { type SqliteDatabase, sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import type { Change, Op } from '../../../src/storage/store/store.ts'
import { temporaryFiles } from './file.ts'

const file = temporaryFiles()
const open = (path: string) => new Database(path) as SqliteDatabase

const append = (size = 1): Op => ({
  op: 'append',
  token: 1,
  events: [{ topic: 't', data: new Uint8Array(size) }],
})
const claim: Op = { op: 'claim', owner: 'o', token: 1, ttlMs: 60_000 }

/** What a promise is rejected with. */
async function failure(promise: Promise<unknown>): Promise<UnavailableError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UnavailableError)
  return error as UnavailableError
}

const checkpoint = {
  v: 4,
  id: '1ef',
  ts: '',
  channel_values: { a: 1 },
  channel_versions: { a: 1 },
  versions_seen: {},
}
const metadata = { source: 'input', step: -1, parents: {} } as const

describe('a file that cannot be written', () => {
  test('refuses writes of store and saver with what is known of them, and still reads', async () => {
    const database = open(file())
    const { store, checkpointer } = sqliteStorage({ database })
    await store.commit('p', { ops: [claim, append()] })
    database.exec('PRAGMA query_only = ON')
    const error = await failure(store.commit('p', { ops: [append()] }))
    expect(error).toMatchObject({ code: 'unavailable', written: 'no', cause: { code: 'SQLITE_READONLY' } })
    await failure(checkpointer.put({ configurable: { thread_id: 't' } }, checkpoint, metadata, { a: 1 }))
    await failure(store.trim('p', { keepLast: 0 }))
    expect((await store.read('p', { after: 0 })).count).toBe(1)
    database.exec('PRAGMA query_only = OFF')
    expect((await store.commit('p', { ops: [append()] })).head).toBe(2)
    database.close()
  })

  test('when the disk is full nothing of a commit is kept, and it goes on when there is room', async () => {
    const database = open(file())
    const { store, setup } = sqliteStorage({ database })
    await setup()
    const put: Op = { op: 'put', collection: 'c', id: 'd', value: 'x', index: { i: 1 } }
    database.exec('PRAGMA max_page_count = 40')
    const change: Change = { ops: [claim, put, append(1_000_000)] }
    const error = await failure(store.commit('p', change))
    expect(error).toMatchObject({ written: 'no', cause: { code: 'SQLITE_FULL' } })
    expect(await store.inspect('p')).toMatchObject({ head: 0, token: 0, lease: undefined })
    expect(await store.get('p', 'c', 'd')).toBeUndefined()
    expect((await store.list('c', { orderBy: 'i' })).docs).toEqual([])
    database.exec('PRAGMA max_page_count = 100000')
    expect((await store.commit('p', change)).head).toBe(1)
    database.close()
  })

  test('a directory that does not exist is told to every caller, and is tried again', async () => {
    const { store, close } = sqliteStorage({ url: `${file()}/none/x.db` })
    expect((await failure(store.commit('p', { ops: [append()] }))).written).toBe('no')
    await failure(store.inspect('p'))
    await close()
  })
})

describe('a lock that another connection holds', () => {
  test('is waited for without blocking the process, up to the deadline', async () => {
    const path = file()
    const { store, setup, close } = sqliteStorage({ url: path, deadlineMs: 150 })
    await setup()
    const other = await openFile(path)
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const turning = setInterval(() => {
      turns += 1
    }, 1)
    const all = await Promise.all([0, 1, 2].map(() => failure(store.commit('p', { ops: [append()] }))))
    clearInterval(turning)
    expect(all.map(({ written }) => written)).toEqual(['no', 'no', 'no'])
    expect(turns).toBeGreaterThan(3)
    expect((await store.inspect('p')).head).toBe(0)
    const waiting = store.commit('p', { ops: [append()] })
    other.exec('COMMIT')
    expect((await waiting).head).toBe(1)
    other.close()
    await close()
  })

  test('does not outlive an abort or a close', async () => {
    const path = file()
    const { store, setup, close } = sqliteStorage({ url: path, deadlineMs: 60_000 })
    await setup()
    const other = await openFile(path)
    other.exec('BEGIN IMMEDIATE')
    const abort = new AbortController()
    const aborted = failure(store.commit('p', { ops: [append()], signal: abort.signal }))
    const next = failure(store.commit('p', { ops: [append()] }))
    abort.abort(new Error('enough'))
    expect((await aborted).written).toBe('no')
    await close()
    expect((await next).written).toBe('no')
    other.close()
  })
})

describe('what sqliteStorage is given', () => {
  test.each([':memory:', 'file::memory:', '', 'file:'])('refuses the url %j', (url) => {
    expect(() => sqliteStorage({ url })).toThrow(/memoryStore/)
  })

  test.each(['postgres://localhost/x', 'file:x.db?mode=ro', 'https://x.turso.io'])(
    'refuses the url %j',
    (url) => {
      expect(() => sqliteStorage({ url })).toThrow(/path or a file: URL/)
    },
  )

  test('refuses neither, both, and a prefix that is no identifier', () => {
    const database = open(file())
    expect(() => sqliteStorage({})).toThrow(/either/)
    expect(() => sqliteStorage({ database, url: 'x.db' })).toThrow(/either/)
    expect(() => sqliteStorage({ database, prefix: 'a"; --' })).toThrow(/prefix/)
    database.close()
  })

  test('refuses a database in memory, which no second connection could see', async () => {
    const database = open(':memory:')
    const error: unknown = await sqliteStorage({ database })
      .setup()
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AgentwireError)
    expect(error).toMatchObject({ code: 'unfit_database' })
    database.close()
  })

  test('refuses tables of a newer version of the library', async () => {
    const database = open(file())
    await sqliteStorage({ database }).setup()
    database.exec('UPDATE agentwire_schema_version SET version = 999')
    await expect(sqliteStorage({ database }).setup()).rejects.toThrow(/newer version/)
    database.close()
  })

  test('leaves the database of the caller open, with its other tables, and keeps prefixes apart', async () => {
    const database = open(file())
    database.exec('CREATE TABLE mine (a)')
    const [one, two] = ['one_', 'two_'].map((prefix) => sqliteStorage({ database, prefix }))
    await one!.store.commit('p', { ops: [append(), append()] })
    await two!.store.commit('p', { ops: [append()] })
    expect([(await one!.store.inspect('p')).head, (await two!.store.inspect('p')).head]).toEqual([2, 1])
    await one!.close()
    await two!.close()
    expect(database.prepare('SELECT count(*) AS tables FROM mine').get()).toMatchObject({ tables: 0 })
    database.close()
  })

  test.each([
    ['normal', 1],
    ['full', 2],
  ] as const)('sets synchronous to %s', async (synchronous, level) => {
    const database = open(file())
    await sqliteStorage({ database, synchronous }).setup()
    expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: level })
    expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' })
    database.close()
  })
})
