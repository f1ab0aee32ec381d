import { expect, test } from 'vitest'
import { accessOf } from '../../../src/core/principal.ts'
import { type CronRecord, countCrons, findCron, listCrons } from '../../../src/faces/rest/crons/records.ts'
import { memoryStore } from '../../../src/index.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { eventually } from '../../kit/wait.ts'
import { addCron, startInstance } from './servers.ts'

const CRONS = 20_000
const YEARLY = '0 0 1 1 *'

/** The store, with how many documents it has given. */
function counted(inner: Store) {
  let read = 0
  const store: Store = {
    ...inner,
    async list(collection, query) {
      const page = await inner.list(collection, query)
      read += page.docs.length
      return page
    },
  }
  return { store, read: () => read }
}

const ANN = '[id]ann'

test('a search of 20,000 crons reads only its page, whatever it is narrowed and ordered by', async () => {
  const { store, read } = counted(memoryStore())
  const nextRun = Date.now() + 1e9
  for (let at = 0; at < CRONS; at++)
    await addCron(store, {
      cronId: `cron-${at}`,
      schedule: YEARLY,
      timezone: null,
      nextRun: nextRun + at,
      owner: at % 2 === 0 ? ANN : '[id]bob',
      assistantId: at % 4 < 2 ? 'agent' : 'other',
      enabled: at % 8 < 4,
    })
  const before = read()
  for (const filter of [
    {},
    { assistantId: 'agent' },
    { enabled: true },
    { assistantId: 'agent', enabled: true },
  ])
    for (const orderBy of ['cronId', 'createdAt', 'updatedAt', 'nextRun'] as const) {
      const page = { owner: ANN, ...filter, orderBy, ascending: true, offset: 2_000, limit: 10 }
      const crons: CronRecord[] = []
      for await (const cron of listCrons(store, page)) crons.push(cron)
      expect(crons).toHaveLength(10)
      expect(crons.every(({ owner }) => owner === ANN)).toBe(true)
      const keys = crons.map((cron) => cron[orderBy]!)
      expect(keys).toEqual(keys.toSorted((a, b) => (a < b ? -1 : 1)))
    }
  expect(read() - before).toBe(160)
  expect(await countCrons(store, { owner: ANN })).toBe(CRONS / 2)
  expect(await countCrons(store, { owner: ANN, assistantId: 'agent', enabled: true })).toBe(CRONS / 8)
  expect((await findCron(store, accessOf({ id: 'ann' }), 'cron-2'))?.record.cronId).toBe('cron-2')
  expect(await findCron(store, accessOf({ id: 'bob' }), 'cron-2')).toBe(undefined)
  expect(read() - before).toBe(162)
})

test('a cron starts when it is due, without anybody who asks', async () => {
  const store = memoryStore()
  const checkpointer = memoryCheckpointer()
  const { crons, runs, events } = startInstance({ store, checkpointer }, { ahead: 0 }, { claimMs: 15_000 })
  const nextRun = Date.now() + 700
  await addCron(store, { cronId: 'soon', schedule: YEARLY, timezone: null, nextRun })
  crons.wake()
  await eventually(() => runs.length === 1)
  const [told] = events.filter((event) => event.type === 'cron.due')
  expect(told).toMatchObject({ cronId: 'soon', dueAt: nextRun, missed: 0 })
  expect(told!.at - nextRun).toBeGreaterThanOrEqual(0)
  expect(told!.at - nextRun).toBeLessThan(1_500)
})
