import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { DeliveryError } from '../../src/core/egress/errors.ts'
import { ConflictError, FencedError, UnavailableError } from '../../src/storage/errors.ts'
import { COLLECTION, putJobOp } from '../../src/storage/jobs/job.ts'
import type { JobHandler } from '../../src/storage/jobs/kind.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { eventually, gate } from '../kit/wait.ts'
import { openJobs, receiver, STORES, TIMES } from './runners.ts'

const url = 'https://hooks.example.com/'
const kind = 'count'

/** Delivers the numbers up to a goal, from where it was saved. */
const count: JobHandler = async ({ id, data }, { deliver, save }) => {
  const { to, sent = 0 } = data as { to: number; sent?: number }
  for (let at = sent + 1; at <= to; at++) {
    await deliver({ url, body: `${id}:${at}` })
    await save({ to, sent: at })
  }
}

const jobsOf = async (store: Store) => (await store.list(COLLECTION)).docs
const untilDone = (store: Store) => eventually(async () => (await jobsOf(store)).length === 0)
const numbersOf = (bodies: readonly string[], id: string) =>
  bodies.filter((body) => body.startsWith(`${id}:`)).map((body) => Number(body.split(':')[1]))
const failed = () => new DeliveryError('failed', 'The receiver responded with status 503.', { status: 503 })

describe.each(STORES)('jobs over $name', ({ create }) => {
  test('a job is delivered in its order and deleted', async () => {
    const store = (await create())()
    const { bodies, deliver } = receiver()
    const { jobs, reported } = openJobs({ store, handlers: { count }, deliver })
    await jobs.put('thread', { id: 'a', kind, data: { to: 3 } })
    await untilDone(store)
    expect(bodies).toEqual(['a:1', 'a:2', 'a:3'])
    expect(reported).toEqual([])
  })

  test('a job that is put with the commit of something else exists if that does', async () => {
    const store = (await create())()
    const { bodies, deliver } = receiver()
    const { jobs } = openJobs({ store, handlers: { count }, deliver })
    const absent = { guard: 'absent', collection: 'things', id: 'thing' } as const
    const commit = (id: string) =>
      store.commit('thread', {
        guards: [absent],
        ops: [
          { op: 'put', collection: 'things', id: 'thing', value: 1 },
          putJobOp({ id, kind, data: { to: 1 } }),
        ],
      })
    await commit('a')
    await expect(commit('b')).rejects.toBeInstanceOf(ConflictError)
    jobs.wake()
    await untilDone(store)
    expect(bodies).toEqual(['a:1'])
  })

  test('a job that fails is tried again from what was saved, and its numbers stay in order', async () => {
    const store = (await create())()
    let calls = 0
    const { bodies, deliver } = receiver(() => {
      if (++calls % 3 !== 0) throw failed()
    })
    const { jobs, reported } = openJobs({ store, handlers: { count }, deliver })
    await jobs.put('thread', { id: 'a', kind, data: { to: 4 } })
    await untilDone(store)
    expect(numbersOf(bodies, 'a')).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    expect(reported).toEqual([])
  })

  test('what another process holds is left to it, until it has not renewed its claim', async () => {
    const open = await create()
    const [lost, mine, looker] = [open(), open(), open()]
    let isLost = false
    const gone = new UnavailableError('The process is gone.', { written: 'unknown' })
    const cut: Store = {
      ...lost,
      commit: (partition, change) => (isLost ? Promise.reject(gone) : lost.commit(partition, change)),
    }
    const stuck = gate()
    const one = receiver(async ({ body }) => body === 'a:2' && !isLost && stuck.open())
    const other = receiver()
    const first = openJobs({
      store: cut,
      handlers: { count },
      deliver: async (request) => {
        const answer = await one.deliver(request)
        if (request.body === 'a:2') isLost = true
        return answer
      },
      times: { ...TIMES, drainMs: 0 },
    })
    await first.jobs.put('thread', { id: 'a', kind, data: { to: 4 } })
    const second = openJobs({ store: mine, handlers: { count }, deliver: other.deliver })
    second.jobs.wake()
    await stuck.opened
    await untilDone(looker)
    expect(numbersOf(one.bodies, 'a')).toEqual([1, 2])
    expect(numbersOf(other.bodies, 'a')).toEqual([2, 3, 4])
    expect(second.reported).toEqual([])
  })

  test('who has lost its job neither saves nor delivers', async () => {
    const open = await create()
    const [slow, mine] = [open(), open()]
    let isAway = true
    const frozen = gate()
    const seen: unknown[] = []
    const stale: JobHandler = async ({ data }, { deliver, save, signal }) => {
      await deliver({ url, body: 'a:0' })
      isAway = true
      await frozen.opened
      isAway = false
      seen.push(await save({ ...(data as object), sent: 2 }).catch((error) => error))
      seen.push(await deliver({ url, body: 'a:99' }).catch((error) => error))
      seen.push(signal.aborted)
    }
    isAway = false
    const away: Store = {
      ...slow,
      commit: (partition, change) =>
        isAway ? Promise.reject(new Error('away')) : slow.commit(partition, change),
    }
    const one = receiver()
    const first = openJobs({ store: away, handlers: { count: stale }, deliver: one.deliver })
    await first.jobs.put('thread', { id: 'a', kind, data: { to: 3 } })
    await eventually(() => one.bodies.length > 0)
    const other = receiver()
    openJobs({ store: mine, handlers: { count }, deliver: other.deliver })
    await untilDone(mine)
    frozen.open()
    await eventually(() => seen.length === 3)
    expect(seen).toEqual([expect.any(FencedError), expect.any(FencedError), true])
    expect(one.bodies).toEqual(['a:0'])
    expect(other.bodies).toEqual(['a:1', 'a:2', 'a:3'])
    expect(await jobsOf(mine)).toEqual([])
  })

  test('many jobs on two instances are all delivered, each in its order', async () => {
    const open = await create()
    const store = open()
    const shared = receiver(async () => {
      await sleep(Math.random() * 5)
      if (Math.random() < 0.1) throw failed()
    })
    const options = { handlers: { count }, deliver: shared.deliver }
    const runners = [store, open()].map((store) => openJobs({ ...options, store }))
    const ids = Array.from({ length: 60 }, (_, at) => `job-${at}`)
    for (const id of ids)
      await store.commit(`thread-${id}`, { ops: [putJobOp({ id, kind, data: { to: 4 } })] })
    for (const { jobs } of runners) jobs.wake()
    await untilDone(store)
    for (const id of ids) {
      const numbers = numbersOf(shared.bodies, id)
      expect(numbers).toEqual(numbers.toSorted())
      expect([...new Set(numbers)]).toEqual([1, 2, 3, 4])
    }
    expect(runners.flatMap(({ reported }) => reported)).toEqual([])
  })

  test('a job that keeps failing is given up, deleted and reported', async () => {
    const store = (await create())()
    const { bodies, deliver } = receiver(() => {
      throw failed()
    })
    const { jobs, reported } = openJobs({
      store,
      handlers: { count },
      deliver,
      times: { ...TIMES, giveUpMs: 250 },
    })
    await jobs.put('thread', { id: 'a', kind, data: { to: 1 } })
    await untilDone(store)
    await eventually(() => reported.length > 0)
    expect(reported).toMatchObject([{ code: 'job_given_up', cause: { code: 'failed', status: 503 } }])
    expect(bodies.length).toBeGreaterThan(2)
  })

  test('a final refusal ends the job, unless its handler goes on', async () => {
    const store = (await create())()
    const { bodies, deliver } = receiver(({ body }) => {
      if (body.endsWith(':2'))
        throw new DeliveryError('rejected', 'The receiver responded with status 404.', { status: 404 })
    })
    const patient: JobHandler = (job, tools) =>
      count(job, {
        ...tools,
        deliver: (request) =>
          tools.deliver(request).catch((error) => {
            if (error.retryable !== false) throw error
            return { status: error.status }
          }),
      })
    const { jobs, reported } = openJobs({ store, handlers: { count, patient }, deliver })
    await jobs.put('thread', { id: 'a', kind, data: { to: 3 } })
    await jobs.put('thread', { id: 'b', kind: 'patient', data: { to: 3 } })
    await untilDone(store)
    await eventually(() => reported.length > 0)
    expect(numbersOf(bodies, 'a')).toEqual([1, 2])
    expect(numbersOf(bodies, 'b')).toEqual([1, 2, 3])
    expect(reported).toMatchObject([{ code: 'job_given_up', cause: { code: 'rejected' } }])
  })

  test.each(['remove', 'clear', 'elsewhere'])(
    'a job that is gone (%s) while it is delivered is not delivered further, and does not come back',
    async (how) => {
      const open = await create()
      const store = open()
      const other = openJobs({ store: open(), handlers: {} })
      const [began, gone] = [gate(), gate()]
      const ended: unknown[] = []
      const { bodies, deliver } = receiver(async () => {
        began.open()
        await gone.opened
      })
      const watched: JobHandler = async (_, { deliver, signal }) => {
        try {
          for (const at of [1, 2, 3]) await deliver({ url, body: `a:${at}` })
        } catch (error) {
          ended.push(error, signal.aborted)
          throw error
        }
      }
      const { jobs, reported } = openJobs({ store, handlers: { count: watched }, deliver })
      await jobs.put('thread', { id: 'a', kind, data: { to: 3 } })
      await began.opened
      if (how === 'remove') await jobs.remove('thread', 'a')
      else if (how === 'clear') await store.commit('thread', { ops: [{ op: 'clear' }] })
      else await other.jobs.remove('thread', 'a')
      gone.open()
      await eventually(() => ended.length > 0)
      expect(ended).toEqual([expect.any(FencedError), true])
      await sleep(50)
      expect(bodies).toEqual(['a:1'])
      expect(await jobsOf(store)).toEqual([])
      expect(reported).toEqual([])
    },
  )

  test.each(['by put', 'in a commit'])(
    'a job that is put again %s begins anew, when its handler has stopped',
    async (how) => {
      const open = await create()
      const store = open()
      const log: string[] = []
      const handler: JobHandler = async ({ data }, { signal }) => {
        log.push(`begin ${data}`)
        if (data === 1) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await sleep(20)
        }
        log.push(`end ${data}`)
      }
      const times = { ...TIMES, claimMs: 30_000 }
      const { jobs, reported } = openJobs({ store, handlers: { handler }, times })
      await jobs.put('thread', { id: 'a', kind: 'handler', data: 1 })
      await eventually(() => log.length > 0)
      const again = { id: 'a', kind: 'handler', data: 2 }
      if (how === 'by put') await jobs.put('thread', again)
      else await open().commit('thread', { ops: [putJobOp(again)] })
      jobs.wake()
      await eventually(async () => log.length === 4 && (await jobsOf(store)).length === 0)
      expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2'])
      expect(reported).toEqual([])
    },
  )

  test('close lets a delivery end and be saved, stops who waits, and others go on at once', async () => {
    const open = await create()
    const [store, mine] = [open(), open()]
    const [delivering, answer] = [gate(), gate()]
    const one = receiver(async ({ body }) => {
      if (body !== 'a:2') return
      delivering.open()
      await answer.opened
    })
    const other = receiver()
    const waits: JobHandler = (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const once: JobHandler = async (_, { deliver }) => void (await deliver({ url, body: 'a:2' }))
    const times = { ...TIMES, claimMs: 30_000 }
    const first = openJobs({ store, handlers: { count, waits, once }, deliver: one.deliver, times })
    await first.jobs.put('thread', { id: 'c', kind: 'once', data: null })
    await first.jobs.put('thread', { id: 'a', kind, data: { to: 4 } })
    await first.jobs.put('thread', { id: 'b', kind: 'waits', data: { to: 1 } })
    await eventually(() => one.bodies.length === 3)
    await delivering.opened
    await eventually(async () => (await jobsOf(mine)).every(({ index }) => Object.values(index)[0] !== 0))
    const closed = first.jobs.close()
    await sleep(50)
    answer.open()
    await closed
    const left = await jobsOf(mine)
    expect(left.map(({ id, value }) => [id, (value as { data: unknown }).data]).toSorted()).toEqual([
      ['a', { to: 4, sent: 2 }],
      ['b', { to: 1 }],
    ])
    const second = openJobs({
      store: mine,
      handlers: { count, waits: count },
      deliver: other.deliver,
      times,
    })
    second.jobs.wake()
    await untilDone(mine)
    expect(one.bodies.toSorted()).toEqual(['a:1', 'a:2', 'a:2'])
    expect(numbersOf(other.bodies, 'a')).toEqual([3, 4])
    expect(numbersOf(other.bodies, 'b')).toEqual([1])
    expect([...first.reported, ...second.reported]).toEqual([])
  })

  test('close waits for a handler that ignores it no longer than its bound, and takes the job from it', async () => {
    const open = await create()
    const [store, mine] = [open(), open()]
    const [began, later] = [gate(), gate()]
    const seen: unknown[] = []
    const deaf: JobHandler = async (_, { deliver, save }) => {
      began.open()
      await later.opened
      for (const step of [() => save(1), () => deliver({ url, body: 'late' })])
        seen.push(await step().catch((error) => error))
    }
    const times = { ...TIMES, claimMs: 30_000, drainMs: 100 }
    const one = receiver()
    const first = openJobs({ store, handlers: { count: deaf }, deliver: one.deliver, times })
    await first.jobs.put('thread', { id: 'a', kind, data: { to: 1 } })
    await began.opened
    await first.jobs.close()
    const other = receiver()
    openJobs({ store: mine, handlers: { count }, deliver: other.deliver, times }).jobs.wake()
    await untilDone(mine)
    later.open()
    await eventually(() => seen.length === 2)
    expect(seen).toEqual([expect.any(FencedError), expect.any(FencedError)])
    expect([one.bodies, other.bodies]).toEqual([[], ['a:1']])
  })

  test('a job whose handler only another instance has waits for that', async () => {
    const open = await create()
    const [old, store] = [open(), open()]
    const first = openJobs({ store: old, handlers: {} })
    await first.jobs.put('thread', { id: 'a', kind, data: { to: 1 } })
    await sleep(100)
    expect(first.reported).toEqual([])
    const { bodies, deliver } = receiver()
    openJobs({ store, handlers: { count }, deliver })
    await untilDone(store)
    expect(bodies).toEqual(['a:1'])
  })
})
