import { describe, expect, test } from 'vitest'
import { ConflictError } from '../../../src/storage/errors.ts'
import {
  type Connection,
  createConnection,
  isBusy,
  openFile,
  toUnavailable,
} from '../../../src/storage/sqlite/connection.ts'
import { sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import { readLog } from '../../../src/storage/sqlite/store/store.ts'
import type { Op } from '../../../src/storage/store/store.ts'
import { temporaryFiles } from './file.ts'

const file = temporaryFiles()

describe('a failed statement', () => {
  test.each([
    ['SQLITE_IOERR_FSYNC', undefined, 'unknown'],
    [undefined, 10 | (4 << 8), 'unknown'],
    ['SQLITE_FULL', undefined, 'no'],
    [undefined, 13, 'no'],
    [undefined, undefined, 'no'],
  ])(
    'of code %s and number %s leaves unknown whether it was written only in a commit: %s',
    (code, errcode, written) => {
      const error = Object.assign(new Error('disk'), { ...(code && { code }), ...(errcode && { errcode }) })
      expect(toUnavailable(error, true)).toMatchObject({ written, message: 'SQLite: disk.', cause: error })
      expect(toUnavailable(error, false)).toMatchObject({ written: 'no' })
    },
  )

  test.each([
    [{ code: 'SQLITE_BUSY_SNAPSHOT' }, true],
    [{ code: 'SQLITE_LOCKED' }, true],
    [{ errcode: 5 | (2 << 8) }, true],
    [{ errcode: 6 }, true],
    [{ errcode: 10 }, false],
    [{ code: 'SQLITE_FULL' }, false],
    [{}, false],
  ])('with %j is worth another try: %s', (fields, busy) => {
    expect(isBusy(Object.assign(new Error('x'), fields))).toBe(busy)
  })

  test('may be anything that a driver throws', () => {
    expect(isBusy({ code: 'SQLITE_BUSY' })).toBe(false)
    expect(toUnavailable('text', true)).toMatchObject({ written: 'no', message: 'SQLite: text.' })
  })
})

describe('a read of a log that another process trims meanwhile', () => {
  const of = (table: string) => `agentwire_${table}`
  const append: Op = { op: 'append', token: 1, events: [{ topic: 't', data: Uint8Array.of(1) }] }

  async function fiveEvents() {
    const url = file()
    const { store, close } = sqliteStorage({ url })
    for (let i = 0; i < 5; i++) await store.commit('p', { ops: [append] })
    const database = await openFile(url)
    const connection = createConnection(database, 'agentwire_')
    return {
      store,
      connection,
      async end() {
        database.close()
        await close()
      },
    }
  }
  /** Runs `meanwhile` between the two statements of the first `times` reads. */
  function between(connection: Connection, meanwhile: () => void, times = Number.POSITIVE_INFINITY) {
    let reads = 0
    const all: Connection['all'] = (...args) => {
      if (reads++ < times) meanwhile()
      return connection.all(...args)
    }
    return { connection: { ...connection, all }, reads: () => reads }
  }
  const drop = (connection: Connection, until: number) => {
    connection.run(`DELETE FROM ${of('log')} WHERE last <= ?`, until)
    connection.run(`UPDATE ${of('partitions')} SET first_retained = ?`, until + 1)
  }

  test.each([
    ['a part', 3, [4, 2, 5, 4]],
    ['all', 5, [6, 0, 5, 6]],
  ])('gives what is left when %s of it was dropped', async (_, until, expected) => {
    const { connection, end } = await fiveEvents()
    const trimmed = between(connection, () => drop(connection, until), 1)
    const { first, count, head, firstRetained } = readLog(trimmed.connection, 'p', { after: 0 })
    expect([first, count, head, firstRetained]).toEqual(expected)
    await end()
  })

  test.each([
    ['begins later', 'DELETE FROM agentwire_log WHERE last <= 2'],
    ['is empty', 'DELETE FROM agentwire_log'],
  ])('fails after 20 reads of one that %s than its partition says', async (_, damage) => {
    const { connection, end } = await fiveEvents()
    const damaged = between(connection, () => connection.run(damage))
    expect(() => readLog(damaged.connection, 'p', { after: 0 })).toThrow('The log of p has a gap after 0.')
    expect(damaged.reads()).toBe(20)
    await end()
  })
})

describe('a commit of guards alone', () => {
  const put = (id: string): Op => ({ op: 'put', collection: 'c', id, value: 1 })

  test('is checked behind the writes that wait', async () => {
    const { store, close } = sqliteStorage({ url: file() })
    await store.setup()
    const writes = Array.from({ length: 20 }, (_, at) => store.commit('p', { ops: [put(`${at}`)] }))
    const check = store.commit('p', { guards: [{ guard: 'absent', collection: 'c', id: '19' }], ops: [] })
    await expect(check).rejects.toBeInstanceOf(ConflictError)
    await Promise.all(writes)
    await close()
  })

  test('notifies nobody', async () => {
    const { store, close } = sqliteStorage({ url: file() })
    let rings = 0
    await store.commit('p', { ops: [put('a')] })
    const stop = store.watch('p', () => rings++)
    await store.commit('p', { guards: [{ guard: 'free' }], ops: [] })
    expect(rings).toBe(0)
    await store.commit('p', { ops: [put('b')] })
    expect(rings).toBe(1)
    stop()
    await close()
  })
})
