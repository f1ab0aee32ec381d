import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { engineOf, start } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { SHARED } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

const never = new Promise<never>(() => {})

/** A call that can be made to hang, or to fail as often as it is told. */
function trouble() {
  let failures = 0
  let hangs = false
  return {
    fail: (times: number) => (failures = times),
    hang: () => (hangs = true),
    end: () => (hangs = false),
    async call<T>(work: () => Promise<T>): Promise<T> {
      if (hangs) await never
      if (failures > 0) {
        failures--
        throw new UnavailableError('away', { written: 'no' })
      }
      return work()
    },
  }
}

const saverIn = (inner: Checkpointer, { call }: ReturnType<typeof trouble>): Checkpointer => ({
  ...inner,
  getTuple: (...args) => call(() => inner.getTuple(...args)),
})

/** Only commits that claim a thread have the trouble. */
const claimsIn = (inner: Store, { call }: ReturnType<typeof trouble>): Store => ({
  ...inner,
  commit: (partition, change) =>
    change.ops.some(({ op }) => op === 'claim')
      ? call(() => inner.commit(partition, change))
      : inner.commit(partition, change),
})

describe.each(Object.entries(SHARED))('over %s', (_, shared) => {
  test.each(['saver', 'store'])(
    'a run that waits starts at once although its launch fails at the %s',
    async (part) => {
      const place = shared()()
      const { agent, tasks, finish } = puppet()
      const troubled = trouble()
      const engine = engineOf(
        { a: agent },
        {
          store: part === 'store' ? claimsIn(place.store, troubled) : place.store,
          checkpointer: part === 'saver' ? saverIn(place.checkpointer, troubled) : place.checkpointer,
          leaseTtlMs: 60_000,
        },
      )
      await start(engine, 't')
      const second = await start(engine, 't')
      troubled.fail(4)
      finish()
      await eventually(() => tasks.length === 2, { timeoutMs: 200_000 })
      finish()
      expect(await engine.wait({ threadId: 't', runId: second.runId })).toMatchObject({ status: 'success' })
      await engine.close()
    },
  )
})

describe('a storage that never answers', () => {
  afterEach(() => void vi.useRealTimers())
  const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })

  test.each([
    ['the claim of a thread', {}],
    ['the checkpoint of a fork', { checkpointId: 'c' }],
    ['a thread that must exist', { mustExist: true }],
  ])('of the saver, at %s, refuses the run, which does not start later', async (_, rest) => {
    const { agent, tasks, finish } = puppet()
    const troubled = trouble()
    const checkpointer = saverIn(memoryCheckpointer(), troubled)
    const engine = engineOf({ a: agent }, { checkpointer })
    troubled.hang()
    fakeTimers()
    const refused = expect(start(engine, 't', {}, rest)).rejects.toMatchObject({ code: 'unavailable' })
    await vi.advanceTimersByTimeAsync(30_000)
    await refused
    expect(tasks).toEqual([])
    vi.useRealTimers()
    troubled.end()
    const { runId } = await start(engine, 't')
    finish()
    expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'success' })
    expect(tasks).toHaveLength(1)
    await engine.close()
  })

  test('of the store, refuses the run, and does not hold up the close', async () => {
    const { agent } = puppet()
    const errors: unknown[] = []
    const troubled = trouble()
    const store = claimsIn(memoryStore(), troubled)
    const engine = engineOf({ a: agent }, { store, onError: (error) => errors.push(error) })
    troubled.hang()
    fakeTimers()
    const refused = expect(start(engine, 't')).rejects.toMatchObject({ code: 'unavailable' })
    await vi.advanceTimersByTimeAsync(30_000)
    await refused
    const closed = engine.close()
    await vi.advanceTimersByTimeAsync(60_000)
    await closed
    expect(errors).toMatchObject([{ message: expect.stringContaining('not responding') }])
  })

  test('at the end of a run, does not hold up the close', async () => {
    const { agent, finish } = puppet()
    const errors: unknown[] = []
    const inner = memoryStore()
    const troubled = trouble()
    const store: Store = {
      ...inner,
      get: (...args) => troubled.call(() => inner.get(...args)),
      inspect: (...args) => troubled.call(() => inner.inspect(...args)),
      commit: (...args) => troubled.call(() => inner.commit(...args)),
    }
    const engine = engineOf({ a: agent }, { store, onError: (error) => errors.push(error) })
    await start(engine, 't')
    troubled.hang()
    fakeTimers()
    finish()
    const closed = engine.close()
    await vi.advanceTimersByTimeAsync(60_000)
    await closed
    expect(errors).toMatchObject([{ message: expect.stringContaining('not responding') }])
  })
})
