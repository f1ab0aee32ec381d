import { describe, expect, test, vi } from 'vitest'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import { storeAudits } from '../../../src/audit/store.ts'
import { memoryOnDemand } from '../../../src/storage/memory/on-demand.ts'

// The audit of a listener that throws makes the store report it.
vi.spyOn(console, 'error').mockImplementation(() => {})

describe('a storage that is loaded with its first call', () => {
  const audits = storeAudits({ create: () => memoryOnDemand().store, sequences: 20 })
  for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
  for (const { id, name, fn } of checkpointerAudits({ create: memoryOnDemand })) test(`${id}: ${name}`, fn)

  test('does calls in their order, from the first on', async () => {
    const { store } = memoryOnDemand()
    const put = { op: 'put', collection: 'c', id: 'd', value: 1 } as const
    const [, found, after] = await Promise.all([
      store.commit('p', { ops: [put] }),
      store.get('p', 'c', 'd'),
      store.commit('p', { ops: [{ ...put, value: 2 }] }),
    ])
    expect(found?.value).toBe(1)
    expect(after.versions).toHaveLength(1)
    expect((await store.get('p', 'c', 'd'))?.value).toBe(2)
  })

  test('tells a watcher of a commit that was made before it was loaded, and none that has left', async () => {
    const { store } = memoryOnDemand()
    const told: string[] = []
    store.watch('p', () => told.push('stays'))
    const leave = store.watch('p', () => told.push('left'))
    leave()
    await store.commit('p', { ops: [{ op: 'put', collection: 'c', id: 'd', value: 1 }] })
    expect(told).toEqual(['stays'])
  })

  test('is closed by its close, also before anything was loaded', async () => {
    const { store } = memoryOnDemand()
    await store.close()
    await expect(store.get('p', 'c', 'd')).rejects.toThrow('closed')
  })
})
