import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DeliveryError } from '../../src/core/egress/errors.ts'
import { COLLECTION, putJobOp } from '../../src/storage/jobs/job.ts'
import type { JobHandler } from '../../src/storage/jobs/kind.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { programs } from '../kit/program.ts'
import { sharedMemory } from '../kit/shared.ts'
import { gate, turns } from '../kit/wait.ts'
import { openJobs, receiver } from './runners.ts'

const start = programs()
const HOUR = 3_600_000
const times = {}
const once: JobHandler = async ({ id, data }, { deliver }) => {
  await deliver({ url: String(data ?? 'https://hooks.example.com/'), body: id })
}
/** Follows something until it is stopped. */
const follow: JobHandler = (_, { signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/** Counts how often such a handler begins. */
function counted() {
  let begun = 0
  const handler: JobHandler = (job, tools) => {
    begun++
    return follow(job, tools)
  }
  return { handler, begun: () => begun }
}

/** Lets time pass, and what it starts happen. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await turns(5)
}

describe('with the default times', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('a job is tried again after 1 second and twice as long each time up to 5 minutes, and given up after a day', async () => {
    const at: number[] = []
    const { deliver } = receiver(() => {
      at.push(Date.now())
      throw new DeliveryError('unreachable', 'Nobody is there.')
    })
    const { jobs, reported } = openJobs({ store: memoryStore(), handlers: { once }, deliver, times })
    await jobs.put('thread', { id: 'a', kind: 'once', data: null })
    await pass(23.5 * HOUR)
    expect(reported).toEqual([])
    const waits = at.slice(1).map((time, i) => time - at[i]!)
    for (const [i, wait] of waits.entries()) {
      const meant = Math.min(1_000 * 2 ** i, 300_000)
      expect(wait).toBeGreaterThanOrEqual(Math.min(meant * 0.75, 225_000))
      expect(wait).toBeLessThanOrEqual(Math.min(meant * 1.25, 300_000) + 30)
    }
    expect(new Set(waits.slice(0, 8)).size).toBe(8)
    await pass(HOUR)
    expect(reported).toMatchObject([{ code: 'job_given_up', cause: { code: 'unreachable' } }])
    const { length } = at
    const [, failures, seconds] = /after (\d+) failures in (\d+) seconds\.$/.exec(reported[0]!.message)!
    expect(Number(failures)).toBe(length)
    expect(Math.abs(Number(seconds) - 24 * 3_600)).toBeLessThan(600)
    await pass(HOUR)
    expect(at.length).toBe(length)
  })

  test('what a receiver asks for by Retry-After is waited, up to 5 minutes', async () => {
    const at: number[] = []
    const asked = [60_000, 1e12, undefined]
    const { deliver } = receiver(() => {
      at.push(Date.now())
      const retryAfterMs = asked.shift()
      if (asked.length > 0) throw new DeliveryError('failed', 'Busy.', { status: 429, retryAfterMs })
    })
    const { jobs } = openJobs({ store: memoryStore(), handlers: { once }, deliver, times })
    await jobs.put('thread', { id: 'a', kind: 'once', data: null })
    await pass(HOUR)
    expect(at.slice(1).map((time, i) => Math.round((time - at[i]!) / 1_000))).toEqual([60, 300])
  })

  test('a failure that is not the receiver’s is reported each time, and a save ends the count', async () => {
    let calls = 0
    const handler: JobHandler = async (_, { save }) => {
      if (++calls === 6) await save('saved')
      if (calls < 8) throw new Error(`fault ${calls}`)
    }
    const store = memoryStore()
    const { jobs, reported } = openJobs({ store, handlers: { handler }, times })
    await jobs.put('thread', { id: 'a', kind: 'handler', data: null })
    await pass(2 * 60_000)
    expect(calls).toBe(8)
    expect(reported.map(({ message }) => message)).toEqual(
      Array.from({ length: 7 }, (_, i) => `fault ${i + 1}`),
    )
    expect((await store.list(COLLECTION)).docs).toEqual([])
  })

  test('a handler may wait for hours: its claim is renewed, and nobody else begins the job', async () => {
    const open = sharedMemory()
    const { handler, begun } = counted()
    const handlers = { follow: handler }
    const [first] = [1, 2].map(() => openJobs({ store: open().store, handlers, times }))
    for (const id of ['a', 'b', 'c']) await first!.jobs.put('thread', { id, kind: 'follow', data: null })
    await pass(3 * HOUR)
    expect(begun()).toBe(3)
    expect(first!.reported).toEqual([])
  })

  test('a process that was suspended goes on with what nobody took, and stops what another one took', async () => {
    const open = sharedMemory()
    const log: string[] = []
    const named =
      (name: string): JobHandler =>
      async (job, tools) => {
        log.push(`${name} begins ${job.id}`)
        await follow(job, tools).finally(() => log.push(`${name} stops ${job.id}`))
      }
    let isSuspended = false
    const { store } = open()
    const suspended: Store = {
      ...store,
      commit: (...args) => (isSuspended ? new Promise(() => {}) : store.commit(...args)),
    }
    const first = openJobs({ store: suspended, handlers: { follow: named('first') }, times })
    await first.jobs.put('thread', { id: 'a', kind: 'follow', data: null })
    await pass(100)
    vi.setSystemTime(Date.now() + HOUR)
    await pass(30_000)
    expect(log).toEqual(['first begins a'])
    const { value, index } = (await store.list(COLLECTION)).docs[0]!
    const op = { op: 'put', collection: COLLECTION, id: 'a', value, index } as const
    await store.commit('thread', { ops: [{ ...op, index: { 'due:follow': 0 } }] })
    const second = openJobs({ store: open().store, handlers: { follow: named('second') }, times })
    second.jobs.wake()
    await pass(100)
    await pass(30_000)
    expect(log.slice(0, 3).toSorted()).toEqual(['first begins a', 'first stops a', 'second begins a'])
    isSuspended = false
  })

  test.each([-HOUR, HOUR])('a clock of the store that is %i ms ahead changes nothing', async (ahead) => {
    const inner = memoryStore({ now: () => Date.now() + ahead })
    const store = { ...inner, capabilities: { ...inner.capabilities, shared: true } }
    let calls = 0
    const { bodies, deliver } = receiver(() => {
      if (++calls === 1) throw new DeliveryError('failed', 'Busy.')
    })
    const { handler, begun } = counted()
    const handlers = { once, follow: handler }
    const [first] = [1, 2].map(() => openJobs({ store, handlers, deliver, times }))
    await first!.jobs.put('thread', { id: 'a', kind: 'once', data: null })
    await first!.jobs.put('thread', { id: 'b', kind: 'follow', data: null })
    await pass(60_000)
    expect(bodies).toEqual(['a', 'a'])
    expect(begun()).toBe(1)
  })

  test('no timer runs without a job in a store of one process, and none after close', async () => {
    const store = memoryStore()
    const { jobs } = openJobs({ store, handlers: { once, follow }, times })
    await pass(60_000)
    expect(vi.getTimerCount()).toBe(0)
    await jobs.put('thread', { id: 'a', kind: 'once', data: null })
    await jobs.put('thread', { id: 'b', kind: 'follow', data: null })
    await pass(60_000)
    expect(vi.getTimerCount()).toBeGreaterThan(0)
    await jobs.remove('thread', 'b')
    await pass(60_000)
    expect(vi.getTimerCount()).toBe(0)
    const shared = openJobs({ store: sharedMemory()().store, handlers: { once }, times })
    await pass(60_000)
    expect(vi.getTimerCount()).toBe(1)
    const closed = shared.jobs.close()
    await pass(5_000)
    await closed
    expect(vi.getTimerCount()).toBe(0)
  })

  test('it is made where timers are forbidden, and started by the first request', async () => {
    const allowed = globalThis.setTimeout
    globalThis.setTimeout = (() => {
      throw new Error('Disallowed operation called within global scope.')
    }) as never
    const { store } = sharedMemory()()
    const { bodies, deliver } = receiver()
    const { jobs } = openJobs({ store, handlers: { once }, deliver, times })
    globalThis.setTimeout = allowed
    await store.commit('thread', { ops: [putJobOp({ id: 'a', kind: 'once', data: null })] })
    await pass(60_000)
    expect(bodies).toEqual([])
    jobs.start()
    jobs.start()
    expect(vi.getTimerCount()).toBe(1)
    await pass(10_000)
    expect(bodies).toEqual(['a'])
  })
})

describe('many jobs', () => {
  test('deliveries are bounded, in all and for each host, and those who wait hold up nobody', async () => {
    let [most, now] = [0, 0]
    const [nowOf, mostOf] = [new Map<string, number>(), new Map<string, number>()]
    const { bodies, deliver } = receiver(async ({ url }) => {
      most = Math.max(most, ++now)
      nowOf.set(url, (nowOf.get(url) ?? 0) + 1)
      mostOf.set(url, Math.max(mostOf.get(url) ?? 0, nowOf.get(url)!))
      await turns(3)
      now--
      nowOf.set(url, nowOf.get(url)! - 1)
    })
    const store = memoryStore()
    const { jobs } = openJobs({ store, handlers: { once, follow }, deliver, times })
    for (let i = 0; i < 500; i++) await jobs.put('followers', { id: `${i}`, kind: 'follow', data: null })
    for (let i = 0; i < 300; i++)
      await jobs.put('thread', {
        id: `${i}`,
        kind: 'once',
        data: `https://${i < 150 ? 'one' : `host-${i}`}.example.com/`,
      })
    await vi.waitFor(() => expect(new Set(bodies).size).toBe(300), { timeout: 240_000 })
    expect(most).toBe(64)
    expect(mostOf.get('https://one.example.com/')).toBe(16)
    expect(bodies.length).toBe(300)
  })

  test('10,000 jobs are listed by pages and delivered once each by two instances', async () => {
    const inner = sharedMemory()().store
    let listed = 0
    const store: Store = {
      ...inner,
      async list(collection, query) {
        const page = await inner.list(collection, query)
        listed = Math.max(listed, page.docs.length)
        return page
      },
    }
    const { bodies, deliver } = receiver(() => turns(1))
    const { jobs: put } = openJobs({ store, handlers: {}, deliver, times })
    for (let i = 0; i < 10_000; i++)
      await put.put(`thread-${i % 100}`, {
        id: `${i}`,
        kind: 'once',
        data: `https://host-${i % 50}.example.com/`,
      })
    for (const { jobs } of [1, 2].map(() => openJobs({ store, handlers: { once }, deliver, times })))
      jobs.wake()
    await vi.waitFor(async () => expect((await inner.list(COLLECTION)).docs).toEqual([]), {
      timeout: 240_000,
      interval: 200,
    })
    expect(bodies.length).toBe(10_000)
    expect(new Set(bodies).size).toBe(10_000)
    expect(listed).toBe(50)
  })

  test('while too many wait for a slot no more are claimed, so that others can have them', async () => {
    const open = sharedMemory()
    const held = gate()
    const slow = receiver(() => held.opened)
    const first = openJobs({ store: open().store, handlers: { once }, deliver: slow.deliver, times })
    const jobs = 3_000
    for (let i = 0; i < jobs; i++) await first.jobs.put('thread', { id: `${i}`, kind: 'once', data: null })
    await expect.poll(() => slow.bodies.length).toBe(16)
    const fast = receiver()
    const second = openJobs({ store: open().store, handlers: { once }, deliver: fast.deliver, times })
    second.jobs.wake()
    await vi.waitFor(() => expect(fast.bodies.length).toBeGreaterThan(1_500), { timeout: 240_000 })
    held.open()
    const left = async () => (await open().store.list(COLLECTION)).docs
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 30_000, interval: 200 })
    expect(slow.bodies.length + fast.bodies.length).toBe(jobs)
  })
})

test('jobs do not keep their process alive', async () => {
  const code = `
    import { putJobOp } from './src/storage/jobs/job.ts'
    import { createJobs } from './src/storage/jobs/jobs.ts'
    import { RETRY_FOR_A_DAY } from './src/storage/jobs/kind.ts'
    import { memoryStore } from './src/storage/memory/store.ts'
    const inner = memoryStore()
    const store = { ...inner, capabilities: { ...inner.capabilities, shared: true } }
    // Until the job is worked on, something else keeps the process alive.
    const other = setInterval(() => {}, 1_000)
    const handle = () => (console.log('following'), clearInterval(other), new Promise(() => {}))
    const jobs = createJobs({ store, report: console.error })
    jobs.register({ follow: { handle, retry: RETRY_FOR_A_DAY, deliver: fetch } })
    await store.commit('thread', { ops: [putJobOp({ id: 'a', kind: 'follow', data: null })] })
    jobs.wake()`
  const { exit, output } = start(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code])
  expect(await output(/following/)).toBe('following\n')
  expect(await exit).toBe(0)
})
