import { expect, test } from 'vitest'
import { DeliveryError } from '../../src/core/egress/errors.ts'
import { pause } from '../../src/core/time.ts'
import { COLLECTION, putJobOp } from '../../src/storage/jobs/job.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { openJobs, receiver } from './runners.ts'

/** The periodic search comes after hours, so that it cannot hide a job that nothing else has started. */
const HOUR = 3_600_000
const times = { claimMs: 10 * HOUR, retryMs: 10, drainMs: 60_000 }

const jobsLeft = async (store: Store) => (await store.list(COLLECTION)).docs.length

test('more jobs than wait for a slot at once are all delivered, each as soon as there is room', async () => {
  const store = memoryStore()
  let begun = 0
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const { bodies, deliver } = receiver(() => opened)
  const { jobs } = openJobs({
    store,
    handlers: {
      async send({ id }, tools) {
        begun++
        await tools.deliver({ url: 'https://a.example/', body: id })
      },
    },
    deliver,
    times,
  })
  const ids = Array.from({ length: 2_600 }, (_, i) => `${i}`)
  for (const id of ids) await store.commit(`thread-${id}`, { ops: [putJobOp({ id, kind: 'send', data: 0 })] })
  jobs.wake()
  // 16 are delivered to a host at once, 1,000 wait for that, and the claims under way come on top.
  await expect.poll(() => begun).toBeGreaterThanOrEqual(1_016)
  open()
  await expect.poll(() => bodies.length).toBe(ids.length)
  expect(new Set(bodies).size).toBe(ids.length)
  await expect.poll(() => jobsLeft(store)).toBe(0)
})

test('a job that is replaced while it is worked on starts again when its handler has stopped', async () => {
  const store = memoryStore()
  const begun: unknown[] = []
  const { jobs } = openJobs({
    store,
    handlers: {
      async wait({ data }, { signal }) {
        begun.push(data)
        if (data === 'old') await pause(HOUR, signal)
      },
    },
    times,
  })
  await jobs.put('thread', { id: 'one', kind: 'wait', data: 'old' })
  await expect.poll(() => begun).toEqual(['old'])
  await jobs.put('thread', { id: 'one', kind: 'wait', data: 'new' })
  await expect.poll(() => begun).toEqual(['old', 'new'])
  await expect.poll(() => jobsLeft(store)).toBe(0)
})

test('a job is tried again when it is due, also if others are due in hours', async () => {
  const store = memoryStore()
  let attempts = 0
  const { jobs, reported } = openJobs({
    store,
    handlers: {
      async fail() {
        if (++attempts < 4) throw new DeliveryError('failed', 'Busy.', { status: 503 })
      },
    },
    times,
  })
  const { now } = await store.inspect('thread')
  await store.commit('later', { ops: [putJobOp({ id: 'later', kind: 'fail', data: 0 }, now + HOUR)] })
  await jobs.put('thread', { id: 'one', kind: 'fail', data: 0 })
  await expect.poll(() => attempts).toBe(4)
  await expect.poll(() => jobsLeft(store)).toBe(1)
  expect(reported).toEqual([])
})

test('a job starts at the time it was put for', async () => {
  const store = memoryStore()
  const begun: number[] = []
  const { jobs } = openJobs({
    store,
    handlers: {
      async note() {
        begun.push((await store.inspect('thread')).now)
      },
    },
    times,
  })
  const { now } = await store.inspect('thread')
  await store.commit('thread', { ops: [putJobOp({ id: 'one', kind: 'note', data: 0 }, now + 120)] })
  jobs.wake()
  await expect.poll(() => begun.length).toBe(1)
  expect(begun[0]).toBeGreaterThanOrEqual(now + 120)
})

test('a job that is claimed while its process closes is given back at once', async () => {
  const memory = memoryStore()
  let isClosing = false
  let close = (): void => {}
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  // The claim is written while the process closes.
  const store: Store = {
    ...memory,
    async commit(partition, batch) {
      if (isClosing) close()
      return memory.commit(partition, batch)
    },
  }
  const stopped: boolean[] = []
  const { jobs } = openJobs({
    store,
    handlers: {
      async wait(_, { signal }) {
        await pause(HOUR, signal)
        stopped.push(true)
      },
    },
    times,
  })
  await memory.commit('thread', { ops: [putJobOp({ id: 'one', kind: 'wait', data: 0 })] })
  isClosing = true
  jobs.wake()
  await closed
  const start = performance.now()
  await jobs.close()
  // Long before the bound of `drainMs`, after which it would be taken from its handler.
  expect(performance.now() - start).toBeLessThan(times.drainMs / 2)
  expect(stopped).toEqual([true])
  const other = openJobs({ store: memory, handlers: { wait: async () => void stopped.push(false) }, times })
  other.jobs.wake()
  await expect.poll(() => stopped).toEqual([true, false])
})

test('a store that fails at the end of a job is reported, and the job is done once more', async () => {
  const memory = memoryStore()
  let fails = true
  const store: Store = {
    ...memory,
    async commit(partition, batch) {
      if (fails && batch.ops?.some(({ op }) => op === 'delete')) {
        fails = false
        throw new Error('The disk is full.')
      }
      return memory.commit(partition, batch)
    },
  }
  let done = 0
  const { jobs, reported } = openJobs({
    store,
    handlers: { note: async () => void done++ },
    times: { ...times, claimMs: 300 },
  })
  await jobs.put('thread', { id: 'one', kind: 'note', data: 0 })
  await expect.poll(() => jobsLeft(store)).toBe(0)
  expect(done).toBe(2)
  expect(reported.map(({ message }) => message)).toEqual(['The disk is full.'])
})

test('a delivery that is skipped is reported, and the job goes on', async () => {
  const store = memoryStore()
  const { bodies, deliver } = receiver()
  const refused = new DeliveryError('rejected', 'No.', { status: 404 })
  const { jobs, reported } = openJobs({
    store,
    handlers: {
      async send(_, tools) {
        tools.skip(refused)
        await tools.deliver({ url: 'https://a.example/', body: 'next' })
      },
    },
    deliver,
    times,
  })
  await jobs.put('thread', { id: 'one', kind: 'send', data: 0 })
  await expect.poll(() => jobsLeft(store)).toBe(0)
  expect(bodies).toEqual(['next'])
  expect(reported).toMatchObject([
    {
      code: 'delivery_refused',
      message: 'A delivery of kind send was permanently rejected.',
      cause: refused,
    },
  ])
})
