import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createLogs } from '../../../src/control-plane/logs/create-logs.ts'
import type { LogPlace } from '../../../src/control-plane/logs/logs.ts'
import { UnavailableError } from '../../../src/storage/errors.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { eventually } from '../../kit/wait.ts'

const PLACE: LogPlace = { type: 'deploy', deploymentId: 'd1' }
const line = (message: string) => ({ at: 1, level: 'INFO' as const, message, revisionId: 'r1' })

/** A store whose commits fail as `how` says. */
function failing(how: (commit: number) => 'no' | 'lost' | undefined) {
  const store = memoryStore()
  const counts = { commits: 0 }
  const wrapped: Store = {
    ...store,
    async commit(partition, change) {
      const failure = how(++counts.commits)
      if (failure === 'no') throw new UnavailableError('The store is away.', { written: 'no' })
      const committed = await store.commit(partition, change)
      if (failure === 'lost') throw new UnavailableError('The answer was lost.', { written: 'unknown' })
      return committed
    },
  }
  return { store: wrapped, counts }
}

test('a flood of a million lines is bounded in memory, and what is lost is said', async () => {
  const logs = createLogs({ store: memoryStore() })
  onTestFinished(() => logs.close())
  const occupied = () => {
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = occupied()
  let most = 0
  const text = 'x'.repeat(100)
  for (let i = 1; i <= 1_000_000; i++) {
    logs.append(PLACE, line(`${i} ${text}`))
    if (i % 10_000 === 0) most = Math.max(most, occupied() - before)
  }
  // A million such lines would be more than 300 MB; garbage that is not yet collected counts here.
  expect(most).toBeLessThan(200_000_000)
  await logs.flush()
  const { lines } = await logs.read(PLACE, { order: 'desc', limit: 1 })
  expect(lines[0]!.message).toBe(`1000000 ${text}`)
  const page = await logs.read(PLACE, { order: 'asc', limit: 3 })
  const dropped = page.lines.filter(({ level }) => level === 'WARNING').map(({ message }) => message)
  const total = dropped.reduce((sum, message) => sum + Number.parseInt(message, 10), 0)
  const kept = await countAll(logs)
  // The lines that tell of others are counted with them.
  expect(total + kept).toBeGreaterThanOrEqual(1_000_000)
  expect(total + kept).toBeLessThanOrEqual(1_000_010)
})

async function countAll(logs: ReturnType<typeof createLogs>): Promise<number> {
  let count = 0
  for (let offset: string | undefined; ; ) {
    const page = await logs.read(PLACE, { order: 'asc', limit: 1_000, offset })
    count += page.lines.filter(({ level }) => level === 'INFO').length
    offset = page.nextOffset
    if (page.isEnd) return count
  }
}

test('while the store is away the newest lines are kept, and a line says how many were dropped', async () => {
  let isAway = true
  const { store, counts } = failing(() => (isAway ? 'no' : undefined))
  const logs = createLogs({ store, limits: { maxLines: 100 } })
  onTestFinished(() => logs.close())
  for (let i = 1; i <= 50; i++) logs.append(PLACE, line(`line ${i}`))
  await eventually(() => counts.commits >= 2)
  for (let i = 51; i <= 200; i++) logs.append(PLACE, line(`line ${i}`))
  isAway = false
  await logs.flush()
  const all = await logs.read(PLACE, { order: 'asc', limit: 1_000 })
  const messages = all.lines.map(({ message }) => message)
  // The first 50 were written and had to go, and of the others 50 were never written, which a line told that had to go as well.
  expect(messages[0]).toBe('101 older lines were dropped: this log keeps its newest lines only.')
  expect(messages.slice(1)).toEqual(Array.from({ length: 100 }, (_, i) => `line ${i + 101}`))
})

test('a line in their place says how many lines were dropped while the store was away', async () => {
  let isAway = true
  const { store } = failing(() => (isAway ? 'no' : undefined))
  const logs = createLogs({ store, limits: { maxBytes: 100_000 } })
  onTestFinished(() => logs.close())
  for (let i = 1; i <= 1_000; i++) logs.append(PLACE, line(`line ${i}`))
  isAway = false
  await logs.flush()
  const { lines } = await logs.read(PLACE, { order: 'asc', limit: 1_000 })
  const [note, next] = lines
  expect(note).toMatchObject({
    level: 'WARNING',
    message: `${1_001 - lines.length} lines were dropped here: they arrived faster than the storage could write them.`,
  })
  expect(next!.message).toBe(`line ${1_002 - lines.length}`)
  expect(lines.length).toBeGreaterThan(300)
})

test('lines whose commit was applied but not acknowledged are not written twice', async () => {
  const { store, counts } = failing((commit) => (commit % 2 === 1 ? 'lost' : undefined))
  const logs = createLogs({ store })
  onTestFinished(() => logs.close())
  for (let i = 1; i <= 2_000; i++) logs.append(PLACE, line(`line ${i}`))
  await logs.flush()
  const { lines } = await logs.read(PLACE, { order: 'asc', limit: 5_000 })
  expect(lines.map(({ message }) => message)).toEqual(
    Array.from({ length: 2_000 }, (_, i) => `line ${i + 1}`),
  )
  expect(counts.commits).toBe(4)
})

test('lines are gathered: many make few commits', async () => {
  const { store, counts } = failing(() => undefined)
  const logs = createLogs({ store })
  onTestFinished(() => logs.close())
  for (let i = 0; i < 40; i++) {
    logs.append(PLACE, line('one'))
    await sleep(5)
  }
  await logs.flush()
  expect(counts.commits).toBeLessThanOrEqual(5)
})

test('an error that no wait mends is reported, and the log goes on', async () => {
  let isBroken = true
  const store = memoryStore()
  const reported: unknown[] = []
  const logs = createLogs({
    store: {
      ...store,
      commit: (partition, change) =>
        isBroken ? Promise.reject(new TypeError('broken')) : store.commit(partition, change),
    },
    onError: (error) => reported.push(error),
  })
  onTestFinished(() => logs.close())
  logs.append(PLACE, line('lost'))
  await logs.flush()
  expect(reported).toEqual([new TypeError('broken')])
  isBroken = false
  logs.append(PLACE, line('kept'))
  await logs.flush()
  const { lines } = await logs.read(PLACE, { order: 'asc', limit: 10 })
  expect(lines.map(({ message }) => message)).toEqual(['kept'])
})

test('logs close while the store is away, and a removal does not wait for it', async () => {
  const { store } = failing(() => 'no')
  const logs = createLogs({ store })
  logs.append(PLACE, line('lost'))
  await sleep(150)
  await expect(logs.remove(PLACE)).rejects.toMatchObject({ code: 'unavailable' })
  await logs.close()
  logs.append(PLACE, line('ignored'))
  expect((await logs.read(PLACE, { order: 'asc', limit: 10 })).lines).toEqual([])
})
