import { expect, test } from 'vitest'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { eventually } from '../../kit/wait.ts'
import { addCron, startInstance, withClock } from './servers.ts'

const MINUTE = 60_000

test('a cron whose job is worked on too early starts nothing before its date, and then one run', async () => {
  const inner = memoryStore()
  // The clock that jobs are claimed by is ahead of the one that dates are compared with.
  const early = { ahead: 2 * MINUTE }
  const crons = { ahead: 0 }
  let looks = 0
  const store: Store = {
    ...inner,
    async inspect(partition, docs) {
      const isCrons = partition === 'crons'
      if (isCrons) looks += 1
      return withClock(inner, isCrons ? crons : early).inspect(partition, docs)
    },
  }
  const now = Date.now()
  const cron = await addCron(inner, { schedule: '0 0 1 1 *', timezone: null, nextRun: now + MINUTE })
  const instance = startInstance({ store, checkpointer: memoryCheckpointer() }, { ahead: 0 })
  const again = async () => {
    const before = looks
    await eventually(() => {
      instance.crons.wake()
      return looks > before
    })
  }
  for (let times = 0; times < 3; times++) await again()
  expect(instance.runs).toEqual([])
  expect(instance.events.filter(({ type }) => type === 'cron.due')).toEqual([])
  crons.ahead = MINUTE
  await eventually(() => instance.events.some(({ type }) => type === 'cron.due'))
  expect(instance.events.filter(({ type }) => type === 'cron.due')).toMatchObject([
    { cronId: cron.cronId, dueAt: now + MINUTE, missed: 0 },
  ])
  await eventually(() => instance.runs.length > 0)
  expect(instance.runs).toMatchObject([{ cronId: cron.cronId, due: now + MINUTE }])
  expect(instance.errors).toEqual([])
})
