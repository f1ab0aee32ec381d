import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { changedWithin, watchChanges } from '../../../src/storage/coordination/changes.ts'
import type { PartitionListener, Store } from '../../../src/storage/store/store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A store of versions, some notifications of which are lost. */
function fakeStore(shared: boolean) {
  const listeners = new Set<{ readonly partition: string; readonly listener: PartitionListener }>()
  const versions = new Map<string, number>()
  const store = {
    capabilities: { shared },
    watch(partition: string, listener: PartitionListener) {
      const entry = { partition, listener }
      listeners.add(entry)
      return () => listeners.delete(entry)
    },
  } as unknown as Store
  return {
    store,
    listeners,
    read: (partition: string) => versions.get(partition) ?? 0,
    write(partition: string, { docs, isLost }: { readonly docs: boolean; readonly isLost: boolean }) {
      versions.set(partition, (versions.get(partition) ?? 0) + 1)
      if (isLost) return
      for (const entry of [...listeners])
        if (entry.partition === partition) entry.listener({ docs, log: !docs })
    },
  }
}

const writes = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 5_000 }),
    partition: fc.constantFrom('watched', 'added', 'other'),
    docs: fc.boolean(),
    isLost: fc.boolean(),
    jumpMs: fc.integer({ min: -100_000, max: 100_000 }),
  }),
  { maxLength: 20 },
)

test('a reader that waits after each read sees each change in time, also those during its reads and lost ones', async () => {
  await fc.assert(
    fc.asyncProperty(
      writes,
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 0, max: 50 }),
      async (todo, shared, docsOnly, readMs) => {
        const { store, listeners, read, write } = fakeStore(shared)
        const begin = performance.now()
        const changes = docsOnly ? watchChanges(store, 'watched') : watchChanges(store, 'watched', () => true)
        changes.watch('added')
        let isOver = false
        let reads = 0
        const seenAt = new Map<string, number>()
        async function follow(): Promise<void> {
          while (!isOver) {
            reads++
            const now = performance.now() - begin
            for (const partition of ['watched', 'added']) {
              const key = `${partition} ${read(partition)}`
              if (!seenAt.has(key)) seenAt.set(key, now)
            }
            if (readMs > 0) await new Promise((resolve) => setTimeout(resolve, readMs))
            await changes.next(Number.POSITIVE_INFINITY)
          }
        }
        const following = follow()
        const wanted: { readonly key: string; readonly by: number }[] = []
        for (const one of todo) {
          // A store of one process loses no notifications.
          const isLost = one.isLost && shared
          setTimeout(() => {
            vi.setSystemTime(Math.max(0, Date.now() + one.jumpMs))
            write(one.partition, { ...one, isLost })
            const isNotified = !isLost && (one.docs || !docsOnly)
            if (one.partition !== 'other' && (isNotified || shared))
              wanted.push({
                key: `${one.partition} ${read(one.partition)}`,
                by: one.at + readMs + (isNotified ? 0 : 1_000),
              })
          }, one.at)
        }
        await vi.advanceTimersByTimeAsync(7_000)
        for (const { key, by } of wanted) {
          const [partition, version] = key.split(' ')
          const seen = [...seenAt].filter(([known]) => {
            const [knownPartition, knownVersion] = known.split(' ')
            return knownPartition === partition && Number(knownVersion) >= Number(version)
          })
          expect(Math.min(...seen.map(([, at]) => at))).toBeLessThanOrEqual(by)
        }
        // It reads once at first, once for each write, and once for each second of a store that is shared.
        expect(reads).toBeLessThanOrEqual(1 + todo.length + (shared ? 8 : 0))
        isOver = true
        changes.close()
        changes.watch('late')
        await vi.runAllTimersAsync()
        await following
        expect(listeners.size).toBe(0)
      },
    ),
  )
})

test('a wait for one change ends with it, at its time, or with a signal, and leaves no listener', async () => {
  const at = fc.integer({ min: 1, max: 1_000 })
  await fc.assert(
    fc.asyncProperty(at, at, at, fc.boolean(), async (ms, changeAt, abortAt, docs) => {
      const { store, listeners, write } = fakeStore(true)
      const begin = performance.now()
      const stop = new AbortController()
      setTimeout(() => write('watched', { docs, isLost: false }), changeAt)
      setTimeout(() => write('other', { docs, isLost: false }), 0)
      setTimeout(() => stop.abort(), abortAt)
      const ended = changedWithin(store, 'watched', ms, stop.signal).then(() => performance.now() - begin)
      await vi.runAllTimersAsync()
      expect(await ended).toBe(Math.min(ms, abortAt, docs ? changeAt : Number.POSITIVE_INFINITY))
      expect(listeners.size).toBe(0)
    }),
  )
})
