import { expect, test } from 'vitest'
import { withVersions } from '../../../src/agents/langgraph/saver-views.ts'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import { labelled, noteFailures, retrying } from '../../../src/engine/execution/saver/run-saver.ts'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../../src/storage/checkpointer/fenced.ts'
import { hooked } from '../../../src/storage/checkpointer/hooks.ts'
import { FencedError, UnavailableError } from '../../../src/storage/errors.ts'
import { type MemoryCheckpointer, memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'

/** A correct saver with one fault. The named audit must find it. */
const FAULTS: Readonly<
  Record<string, readonly [audit: string, fault: (saver: MemoryCheckpointer) => Partial<Checkpointer>]>
> = {
  'deletes everything': ['newest', (saver) => ({ keepLatest: (id) => saver.deleteThread(id) })],
  'deletes nothing': ['newest', () => ({ keepLatest: async () => {} })],
  'loses the writes of the newest': [
    'newest',
    (saver) => ({
      async getTuple(config) {
        const tuple = await saver.getTuple(config)
        const isAlone = tuple && !(await saver.list(config, { before: tuple.config }).next()).value
        return isAlone ? { ...tuple, pendingWrites: [] } : tuple
      },
    }),
  ],
  'ignores the checkpoint that it is asked for': [
    'branches',
    (saver) => ({ keepLatest: (id) => saver.keepLatest(id) }),
  ],
  'keeps no ancestors': [
    'delta',
    (saver) => ({
      put: (config, checkpoint, metadata, versions) =>
        saver.put(config, checkpoint, { ...metadata, counters_since_delta_snapshot: {} }, versions),
    }),
  ],
  'deletes what is put meanwhile': [
    'concurrent',
    (saver) => ({
      async keepLatest(id) {
        const newest = await saver.getTuple({ configurable: { thread_id: id } })
        for (let turn = 0; turn < 20; turn++) await Promise.resolve()
        await saver.deleteThread(id)
        const { config, checkpoint, metadata } = newest!
        await saver.put(config, checkpoint, metadata!, checkpoint.channel_versions)
      },
    }),
  ],
}

test.each(Object.entries(FAULTS))('the audits find a saver that %s', async (_, [audit, fault]) => {
  const audits = (create: () => Checkpointer) =>
    checkpointerAudits({ create: () => ({ checkpointer: create() }) }).find(
      ({ id }) => id === `checkpointer.keep-latest.${audit}`,
    )!
  await audits(memoryCheckpointer).fn()
  const faulty = () => {
    const saver = memoryCheckpointer()
    return { ...saver, ...fault(saver) }
  }
  await expect(audits(faulty).fn()).rejects.toMatchObject({ code: 'audit_failed' })
})

async function held() {
  const store = memoryStore()
  await store.commit('t', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 60_000 }] })
  return store
}

test('every view of a saver that has keepLatest has it, and no view of one that has not', async () => {
  const store = await held()
  const views: Readonly<Record<string, (saver: Checkpointer) => Checkpointer>> = {
    fenced: (saver) => fencedCheckpointer(saver, store, 't', 1),
    labelled: (saver) => hooked(saver, [labelled({})]),
    retrying: (saver) => hooked(saver, [retrying(1_000)]),
    watched: (saver) => hooked(saver, [noteFailures({ failed: false, unavailable: false })]),
    versioned: withVersions,
  }
  for (const [name, view] of Object.entries(views)) {
    const asked: unknown[] = []
    const saver: Checkpointer = {
      ...memoryCheckpointer(),
      keepLatest: async (...args) => void asked.push(args),
    }
    await view(saver).keepLatest!('t', 'c')
    expect([name, asked]).toEqual([name, [['t', 'c']]])
    const { keepLatest: _, ...without } = memoryCheckpointer()
    expect([name, view(without).keepLatest]).toEqual([name, undefined])
  }
})

test('a view is fenced, tries again while the database is away, and notes failures', async () => {
  let away = 2
  const asked: unknown[] = []
  const saver: Checkpointer = {
    ...memoryCheckpointer(),
    async keepLatest(...args) {
      if (away-- > 0) throw new UnavailableError('away', { written: 'no' })
      asked.push(args)
    },
  }
  const store = await held()
  await expect(fencedCheckpointer(saver, store, 't', 2).keepLatest!('t')).rejects.toThrow(FencedError)
  expect(away).toBe(2)
  await hooked(saver, [retrying(60_000)]).keepLatest!('t')
  expect(asked).toEqual([['t']])
  away = 1
  const health = { failed: false, unavailable: false }
  await expect(hooked(saver, [noteFailures(health)]).keepLatest!('t')).rejects.toThrow('away')
  expect(health.failed).toBe(true)
})
