import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LogLevel } from '../../../src/control-plane/deployers/deployer.ts'
import { createLogs } from '../../../src/control-plane/logs/create-logs.ts'
import type { LogLimits, LogLine, LogPlace, LogQuery, Logs } from '../../../src/control-plane/logs/logs.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { STORES } from '../../jobs/runners.ts'

const BUILD: LogPlace = { type: 'build', deploymentId: 'd1', revisionId: 'r1' }
const DEPLOY: LogPlace = { type: 'deploy', deploymentId: 'd1' }

function openLogs(store: Store, limits?: LogLimits): Logs {
  const logs = createLogs({
    store,
    limits,
    onError: (error) => expect.unreachable(`An error was reported: ${error}`),
  })
  onTestFinished(() => logs.close())
  return logs
}

const line = (message: string, at = 0, more: Partial<LogLine> = {}): Omit<LogLine, 'id'> => ({
  at,
  level: 'INFO' as LogLevel,
  message,
  revisionId: 'r1',
  ...more,
})

const ask = (logs: Logs, place: LogPlace, query: Partial<LogQuery> = {}) =>
  logs.read(place, { order: 'asc', limit: 50, ...query })

const messages = ({ lines }: { readonly lines: readonly LogLine[] }) => lines.map(({ message }) => message)

/** Counts what is read of a store. */
function counted(store: Store) {
  const read = { calls: 0, events: 0, bytes: 0, trims: 0 }
  const counting: Store = {
    ...store,
    async read(partition, query) {
      const batch = await store.read(partition, query)
      read.calls++
      read.events += batch.count
      read.bytes += batch.offsets[batch.count]! - batch.offsets[0]!
      return batch
    },
    trim(partition, bound) {
      read.trims++
      return store.trim(partition, bound)
    },
  }
  return { store: counting, read }
}

describe.each(STORES)('logs over $name', ({ create }) => {
  test('lines come back as they were, in their order, page by page in both directions', async () => {
    const logs = openLogs((await create())())
    for (let i = 1; i <= 7; i++) logs.append(BUILD, line(`line ${i}`, i, i === 3 ? { runId: 'run' } : {}))
    await logs.flush()

    const first = await ask(logs, BUILD, { limit: 3 })
    expect(first.lines[2]).toEqual({ id: '3', ...line('line 3', 3, { runId: 'run' }) })
    expect(messages(first)).toEqual(['line 1', 'line 2', 'line 3'])
    expect(first.isEnd).toBe(false)
    // The place of the next page stays where it is when lines are added.
    logs.append(BUILD, line('line 8', 8))
    await logs.flush()
    const rest = await ask(logs, BUILD, { offset: first.nextOffset })
    expect(messages(rest)).toEqual(['line 4', 'line 5', 'line 6', 'line 7', 'line 8'])
    expect(rest.isEnd).toBe(true)

    const tail = await ask(logs, BUILD, { order: 'desc', limit: 3 })
    expect(messages(tail)).toEqual(['line 8', 'line 7', 'line 6'])
    logs.append(BUILD, line('line 9', 9))
    await logs.flush()
    const before = await ask(logs, BUILD, { order: 'desc', limit: 5, offset: tail.nextOffset })
    expect(messages(before)).toEqual(['line 5', 'line 4', 'line 3', 'line 2', 'line 1'])
    expect(before.isEnd).toBe(true)
    expect(await ask(logs, BUILD, { order: 'desc', offset: before.nextOffset })).toMatchObject({
      lines: [],
      isEnd: true,
    })
    // A reader at the end goes on with what comes.
    expect(messages(await ask(logs, BUILD, { offset: rest.nextOffset }))).toEqual(['line 9'])
  })

  test('a log without lines has an offset from which its first lines are read', async () => {
    const logs = openLogs((await create())())
    const empty = await ask(logs, BUILD)
    expect(empty).toEqual({ lines: [], nextOffset: '0', isEnd: true })
    logs.append(BUILD, line('first'))
    await logs.flush()
    expect(messages(await ask(logs, BUILD, { offset: empty.nextOffset }))).toEqual(['first'])
  })

  test('lines are filtered by level, time, text, run and revision', async () => {
    const logs = openLogs((await create())())
    const levels: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']
    for (const [at, level] of levels.entries())
      logs.append(
        DEPLOY,
        line(`The ${level} line`, at * 10, { level, revisionId: `r${at % 2}`, runId: `u${at}` }),
      )
    await logs.flush()
    const levelsOf = async (query: Partial<LogQuery>) =>
      (await ask(logs, DEPLOY, query)).lines.map(({ level }) => level)
    expect(await levelsOf({ level: 'WARNING' })).toEqual(['WARNING', 'ERROR', 'CRITICAL'])
    expect(await levelsOf({ startTime: 10, endTime: 30 })).toEqual(['INFO', 'WARNING', 'ERROR'])
    expect(await levelsOf({ query: 'the err' })).toEqual(['ERROR'])
    expect(await levelsOf({ runId: 'u4' })).toEqual(['CRITICAL'])
    expect(await levelsOf({ revisionId: 'r1', order: 'desc' })).toEqual(['ERROR', 'INFO'])
    expect(await levelsOf({ revisionId: 'unknown' })).toEqual([])
    const page = await ask(logs, DEPLOY, { revisionId: 'r0', limit: 1 })
    expect(await levelsOf({ revisionId: 'r0', limit: 1, offset: page.nextOffset })).toEqual(['WARNING'])
  })

  test('a full log keeps its newest lines, and its first line says how many are gone', async () => {
    const { store, read } = counted((await create())())
    const logs = openLogs(store, { maxLines: 1_000 })
    for (let i = 1; i <= 5_000; i++) {
      logs.append(BUILD, line(`line ${i}`, i))
      if (i % 250 === 0) await logs.flush()
    }
    await logs.flush()
    const { head, firstRetained } = await store.inspect('logs:build:r1')
    expect(head).toBe(5_000)
    // The store keeps hardly more.
    expect(head - firstRetained).toBeLessThan(1_300)
    expect(read.trims).toBeLessThanOrEqual(20)

    const page = await ask(logs, BUILD, { limit: 3 })
    expect(page.lines.map(({ id }) => id)).toEqual(['dropped', '4001', '4002'])
    expect(page.lines[0]).toMatchObject({
      level: 'WARNING',
      revisionId: 'r1',
      at: 4_001,
      message: '4000 older lines were dropped: this log keeps its newest lines only.',
    })
    const next = await ask(logs, BUILD, { limit: 2, offset: page.nextOffset })
    expect(messages(next)).toEqual(['line 4003', 'line 4004'])
    // A reader whose place is gone is told, too.
    expect(messages(await ask(logs, BUILD, { limit: 2, offset: '17' }))[0]).toMatch(/^4000 older lines/)
    expect(messages(await ask(logs, BUILD, { limit: 1, query: 'line 4' }))).toEqual(['line 4001'])

    const reversed = await ask(logs, BUILD, { order: 'desc', limit: 1_000 })
    expect([reversed.lines[0]!.id, reversed.lines.at(-1)!.id, reversed.isEnd]).toEqual([
      '5000',
      '4001',
      false,
    ])
    const last = await ask(logs, BUILD, { order: 'desc', limit: 10, offset: reversed.nextOffset })
    expect([last.lines.map(({ id }) => id), last.isEnd]).toEqual([['dropped'], true])
  })

  test('a log of few but long lines is bounded by its bytes', async () => {
    const { store } = counted((await create())())
    const logs = openLogs(store, { maxBytes: 100_000 })
    for (let i = 1; i <= 100; i++) {
      logs.append(BUILD, line(`${i} ${'x'.repeat(5_000)}`, i))
      await logs.flush()
    }
    const { lines } = await ask(logs, BUILD, { limit: 1_000 })
    expect(lines[0]!.id).toBe('dropped')
    const kept = lines.slice(1).reduce((sum, { message }) => sum + message.length, 0)
    expect(kept).toBeGreaterThan(80_000)
    expect(kept).toBeLessThan(100_000)
    expect(lines.at(-1)!.id).toBe('100')
  })

  test('the tail of a long log, and a page by time, read no more than they need', async () => {
    const open = await create()
    const logs = openLogs(open())
    for (let i = 1; i <= 10_000; i++) {
      logs.append(BUILD, line(`line ${i} ${'x'.repeat(80)}`, i))
      if (i % 500 === 0) await logs.flush()
    }
    await logs.flush()
    const { store, read } = counted(open())
    const reader = openLogs(store)
    const tail = await ask(reader, BUILD, { order: 'desc', limit: 30 })
    expect(tail.lines).toHaveLength(30)
    expect(read.events).toBeLessThanOrEqual(60)

    read.events = 0
    const byTime = await ask(reader, BUILD, { startTime: 9_900, limit: 1_000 })
    expect(byTime.lines).toHaveLength(101)
    expect(read.events).toBeLessThanOrEqual(1_000)

    read.events = 0
    const old = await ask(reader, BUILD, { endTime: 20, order: 'desc', limit: 10 })
    expect(messages(old)[0]).toMatch(/^line 20 /)
    expect(read.events).toBeLessThanOrEqual(1_000)
  })

  test('two instances write one log, and no line is lost or doubled', async () => {
    const open = await create()
    const [one, two] = [openLogs(open()), openLogs(open())]
    for (let i = 0; i < 50; i++) {
      one.append(DEPLOY, line(`one ${i}`))
      two.append(DEPLOY, line(`two ${i}`))
      if (i % 5 === 0) await Promise.all([one.flush(), two.flush()])
    }
    await Promise.all([one.flush(), two.flush()])
    const all = messages(await ask(one, DEPLOY, { limit: 1_000 }))
    for (const [at, name] of ['one', 'two'].entries())
      expect(all.filter((message) => message.startsWith(name))).toEqual(
        Array.from({ length: 50 }, (_, i) => `${['one', 'two'][at]} ${i}`),
      )
    expect(all).toHaveLength(100)
  })

  test('hostile lines come back as they are', async () => {
    const logs = openLogs((await create())())
    const hostile = [
      '\u001b[31mred\u001b[0m',
      '\0\u0001\u007f',
      '\ud800 alone',
      '"}\n{"',
      '\u2028',
      '',
      '__proto__',
    ]
    for (const message of hostile) logs.append(BUILD, line(message))
    await logs.flush()
    expect(messages(await ask(logs, BUILD))).toEqual(hostile)
    expect(JSON.stringify(await ask(logs, BUILD, { query: '\u001b[31m' }))).toContain('\\u001b[31mred')
  })

  test('a removed log is empty, and can begin again', async () => {
    const logs = openLogs((await create())())
    logs.append(BUILD, line('before'))
    await logs.flush()
    logs.append(BUILD, line('not written yet'))
    await logs.remove(BUILD)
    const empty = await ask(logs, BUILD)
    expect(empty.lines).toEqual([])
    logs.append(BUILD, line('after'))
    await logs.flush()
    expect(messages(await ask(logs, BUILD))).toEqual(['after'])
    expect(messages(await ask(logs, BUILD, { offset: empty.nextOffset }))).toEqual(['after'])
  })
})

test('lines that are too long are cut, with a mark, and no character is cut in two', async () => {
  const [{ create } = STORES[0]!] = STORES
  const logs = openLogs((await create())(), { maxLineLength: 10 })
  for (const message of ['0123456789', '0123456789ab', '012345678\ud83d\ude80!'])
    logs.append(BUILD, line(message))
  await logs.flush()
  expect(messages(await ask(logs, BUILD))).toEqual([
    '0123456789',
    '0123456789… (2 more characters were cut)',
    '012345678… (3 more characters were cut)',
  ])
})

test('an offset that is none is refused', async () => {
  const logs = openLogs((await STORES[0]!.create())())
  for (const offset of ['x', '-1', '1e3', ' 1', '9'.repeat(40)])
    await expect(ask(logs, BUILD, { offset })).rejects.toMatchObject({ status: 400 })
})

test('whatever is appended and asked, the pages are those of a plain list', async () => {
  const store = (await STORES[0]!.create())()
  const levels: readonly LogLevel[] = ['DEBUG', 'INFO', 'ERROR']
  const lines = fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 20 }),
      level: fc.constantFrom(...levels),
      message: fc.constantFrom('red', 'green', 'Red and blue'),
      revisionId: fc.constantFrom('r1', 'r2'),
    }),
    { maxLength: 120 },
  )
  const query = fc.record(
    {
      limit: fc.integer({ min: 1, max: 40 }),
      order: fc.constantFrom('asc' as const, 'desc' as const),
      revisionId: fc.constantFrom('r1', 'r2'),
      level: fc.constantFrom(...levels),
      query: fc.constant('red'),
      startTime: fc.integer({ min: 0, max: 20 }),
      endTime: fc.integer({ min: 0, max: 20 }),
    },
    { requiredKeys: ['limit', 'order'] },
  )
  let count = 0
  await fc.assert(
    fc.asyncProperty(lines, query, fc.integer({ min: 1, max: 60 }), async (given, asked, maxLines) => {
      const place: LogPlace = { type: 'deploy', deploymentId: `d${++count}` }
      const logs = createLogs({ store, limits: { maxLines } })
      for (const [at, one] of given.entries()) {
        logs.append(place, one)
        // Not so many at once that the queue drops some.
        if (at % Math.min(7, maxLines) === 0) await logs.flush()
      }
      await logs.flush()
      const wanted = given
        .map((one, at) => ({ ...one, id: String(at + 1) }))
        .slice(-maxLines)
        .filter(
          (one) =>
            (asked.revisionId ?? one.revisionId) === one.revisionId &&
            levels.indexOf(one.level) >= levels.indexOf(asked.level ?? 'DEBUG') &&
            (asked.query === undefined || one.message.toLowerCase().includes(asked.query)) &&
            one.at >= (asked.startTime ?? 0) &&
            one.at <= (asked.endTime ?? 20),
        )
        .map(({ id }) => id)
      const found: string[] = []
      for (let offset: string | undefined; ; ) {
        const page = await logs.read(place, { ...asked, offset })
        expect(page.lines.length).toBeLessThanOrEqual(asked.limit)
        found.push(...page.lines.map(({ id }) => id))
        offset = page.nextOffset
        if (page.isEnd) break
      }
      const isBare = Object.keys(asked).length === 2
      if (isBare && given.length > maxLines)
        expect(asked.order === 'asc' ? found[0] : found.at(-1)).toBe('dropped')
      const ids = found.filter((id) => id !== 'dropped')
      expect(found.length - ids.length).toBeLessThanOrEqual(1)
      expect(asked.order === 'asc' ? ids : ids.reverse()).toEqual(wanted)
      await logs.close()
    }),
    { numRuns: 150 },
  )
})
