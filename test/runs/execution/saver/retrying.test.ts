import { expect, test, vi } from 'vitest'
import { retrying } from '../../../../src/engine/execution/saver/run-saver.ts'
import { hooked } from '../../../../src/storage/checkpointer/hooks.ts'
import { retryUnavailable } from '../../../../src/storage/coordination/retry.ts'
import { FencedError, UnavailableError } from '../../../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../../../src/storage/memory/checkpointer.ts'

const away = () => new UnavailableError('away', { written: 'no' })

/** Fails with each error in turn, then gives `value`. */
const after = <T>(errors: unknown[], value: T) =>
  vi.fn(async () => {
    if (errors.length > 0) throw errors.shift()
    return value
  })

test('waits for a backend that comes back, and no longer than its patience', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  try {
    const back = retryUnavailable(1_000, after([away(), away(), away()], 'back'))
    await vi.advanceTimersByTimeAsync(20 + 40 + 80)
    await expect(back).resolves.toBe('back')

    const gone = after(Array.from({ length: 100 }, away), 'back')
    const given = retryUnavailable(1_000, gone)
    const refused = expect(given).rejects.toBeInstanceOf(UnavailableError)
    await vi.advanceTimersByTimeAsync(2_300)
    await refused
    expect(gone.mock.calls.length).toBe(7)
  } finally {
    vi.useRealTimers()
  }
})

test('other errors are not retried', async () => {
  const work = after([new FencedError('taken')], 'done')
  await expect(retryUnavailable(60_000, work)).rejects.toBeInstanceOf(FencedError)
  expect(work).toHaveBeenCalledTimes(1)
})

test('a saver reads and writes through an outage, also under another serde', async () => {
  const inner = memoryCheckpointer()
  const at = { configurable: { thread_id: 't', checkpoint_ns: '' } }
  const checkpoint = {
    v: 4,
    id: 'c1',
    ts: new Date(0).toISOString(),
    channel_values: { a: 1 },
    channel_versions: { a: 1 },
    versions_seen: {},
  }
  const metadata = { source: 'input', step: -1, parents: {} } as const
  const faulty = () => {
    let calls = 0
    const sometimes = <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
      vi.fn(async (...args: Args) => {
        if (calls++ % 2 === 0) throw away()
        return method(...args)
      })
    return {
      ...inner,
      getTuple: sometimes(inner.getTuple),
      put: sometimes(inner.put),
      putWrites: sometimes(inner.putWrites),
      get: sometimes(inner.get),
      getDeltaChannelHistory: sometimes(inner.getDeltaChannelHistory),
      async *list(...args: Parameters<typeof inner.list>) {
        if (calls++ % 2 === 0) throw away()
        yield* inner.list(...args)
      },
    }
  }
  const saver = { ...faulty(), withSerde: faulty }
  const patient = hooked(saver, [retrying(60_000)])
  for (const view of [patient, patient.withSerde!({} as never)]) {
    const stored = await view.put(at, checkpoint, metadata, { a: 1 })
    await view.putWrites(stored, [['a', 2]], 'task')
    expect(await view.getTuple(at)).toMatchObject({
      checkpoint: { id: 'c1', channel_values: { a: 1 } },
      pendingWrites: [['task', 'a', 2]],
    })
    const tuples = []
    for await (const tuple of view.list(at)) tuples.push(tuple)
    expect(tuples.length).toBe(1)
    expect(await (view as typeof inner).get(at)).toMatchObject({ id: 'c1' })
    const asked = { config: stored, channels: ['a'] }
    expect(await (view as typeof inner).getDeltaChannelHistory(asked)).toEqual({ a: { writes: [] } })
  }
})
