import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { FencedError, UnavailableError } from '../../../src/storage/errors.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import type { DocIndex, LogEvent, Store } from '../../../src/storage/store/store.ts'
import { heldBytes } from '../gc.ts'

function events(count: number, size: number): LogEvent[] {
  return Array.from({ length: count }, () => ({ topic: 'messages', data: new Uint8Array(size) }))
}

async function append(store: Store, partition: string, count: number, size: number): Promise<void> {
  await store.commit(partition, { ops: [{ op: 'append', token: 1, events: events(count, size) }] })
}

async function countFrom(store: Store, partition: string, after: number): Promise<number> {
  let count = 0
  for (;;) {
    const batch = await store.read(partition, { after: after + count })
    if (batch.count === 0) return count
    count += batch.count
  }
}

test('holds an event of 190 bytes in at most 250 bytes', async () => {
  const store = memoryStore()
  const before = heldBytes()
  for (let i = 0; i < 10_000; i++) await append(store, `thread ${i % 5}`, 5, 190)
  const each = (heldBytes() - before) / 50_000
  expect((await store.inspect('thread 0')).head).toBe(10_000)
  expect(each).toBeGreaterThan(190)
  expect(each).toBeLessThanOrEqual(250)
})

test('holds a short thread in few bytes', async () => {
  const store = memoryStore()
  const before = heldBytes()
  for (let i = 0; i < 2000; i++) {
    for (let step = 0; step < 3; step++) await append(store, `thread ${i}`, 1, 190)
  }
  expect((heldBytes() - before) / 2000).toBeLessThanOrEqual(5000)
  expect((await store.inspect('thread 1')).head).toBe(3)
})

test('keeps 20,000 events of 300 bytes by default, and not more than 16 MiB', async () => {
  const store = memoryStore()
  for (let i = 0; i < 1000; i++) await append(store, 'p', 20, 300)
  expect((await store.read('p', { after: 0 })).first).toBe(1)
  expect(await countFrom(store, 'p', 0)).toBe(20_000)
  for (let i = 0; i < 400; i++) await append(store, 'p', 1, 100_000)
  const { head, firstRetained } = await store.inspect('p')
  expect(head).toBe(20_400)
  expect((head - firstRetained + 1) * 100_000).toBeLessThanOrEqual(16 * 1024 * 1024)
  const gap = await store.read('p', { after: 5 })
  expect([gap.first, gap.firstRetained]).toEqual([firstRetained, firstRetained])
})

test('drops whole oldest pages at the bound of a thread, never the page being written', async () => {
  const store = memoryStore({ maxThreadBytes: 10_000 })
  await append(store, 'p', 1, 50_000)
  expect(await countFrom(store, 'p', 0)).toBe(1)
  await append(store, 'p', 3, 50_000)
  expect(await store.inspect('p')).toMatchObject({ head: 4, firstRetained: 4 })
  let last = 0
  for (let i = 0; i < 200; i++) {
    await append(store, 'p', 1, 100)
    const { head, firstRetained } = await store.inspect('p')
    expect(firstRetained).toBeGreaterThanOrEqual(last)
    expect(await countFrom(store, 'p', firstRetained - 1)).toBe(head - firstRetained + 1)
    last = firstRetained
  }
  expect((await store.inspect('p')).head - last).toBeGreaterThan(50)
})

test('takes the total bound from the thread that was longest without an append', async () => {
  const store = memoryStore({ maxTotalBytes: 450_000 })
  for (const partition of ['a', 'b', 'c']) await append(store, partition, 300, 300)
  const first = async (partition: string) => (await store.inspect(partition)).firstRetained
  await append(store, 'a', 1, 300)
  await append(store, 'd', 300, 300)
  expect(await Promise.all(['a', 'c', 'd'].map(first))).toEqual([1, 1, 1])
  expect(await first('b')).toBeGreaterThan(1)
  await append(store, 'e', 1, 10_000_000)
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(first))).toEqual([302, 301, 301, 301])
  expect(await countFrom(store, 'e', 0)).toBe(1)
  await append(store, 'a', 1, 300)
  expect((await store.inspect('a')).head).toBe(302)
  expect(await first('e')).toBe(2)
})

test('a sweep drops events that are too old, but none of a run that is going on', async () => {
  let now = 1_000
  const store = memoryStore({ maxAgeMs: 500, now: () => now })
  await store.commit('held', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 10 }] })
  for (const partition of ['held', 'old', 'mixed']) await append(store, partition, 300, 300)
  now += 400
  await append(store, 'mixed', 300, 300)
  await store.sweep()
  const first = async (partition: string) => (await store.inspect(partition)).firstRetained
  expect(await Promise.all(['held', 'old', 'mixed'].map(first))).toEqual([1, 1, 1])
  now += 200
  await store.sweep()
  expect(await Promise.all(['held', 'old'].map(first))).toEqual([1, 301])
  expect(await first('mixed')).toBeGreaterThan(1)
  expect(await countFrom(store, 'mixed', 300)).toBe(300)
  await store.commit('held', { ops: [{ op: 'release', token: 1 }] })
  await store.sweep()
  expect(await first('held')).toBe(301)
})

test('forgets what is empty: partitions, documents, watchers', async () => {
  const store = memoryStore()
  const before = heldBytes()
  for (let i = 0; i < 10_000; i++) {
    const id = `thread-${i}`
    await store.commit(id, { ops: [{ op: 'put', collection: 'threads', id, value: { id }, index: { i } }] })
    const stop = store.watch(id, () => {})
    await store.commit(id, { ops: [{ op: 'delete', collection: 'threads', id }] })
    stop()
    await store.inspect(id)
    await store.commit(id, { guards: [{ guard: 'head', seq: 1 }], ops: [] }).catch(() => {})
  }
  expect(heldBytes() - before).toBeLessThan(500_000)
})

test('keeps little of each cleared partition and a bounded number of them, and deals no token again', async () => {
  const store = memoryStore()
  const cleared = 70_000
  const before = heldBytes()
  for (let i = 1; i <= cleared; i++) {
    await store.commit(`thread-${i}`, {
      ops: [
        { op: 'claim', owner: 'o', token: 1_700_000_000_000 + i, ttlMs: 1000 },
        { op: 'append', token: i, events: events(2, 200) },
        { op: 'put', collection: 'threads', id: 't', value: {} },
        { op: 'clear' },
      ],
    })
  }
  expect((heldBytes() - before) / cleared).toBeLessThan(300)
  expect(await store.inspect(`thread-${cleared}`)).toMatchObject({
    head: 2,
    firstRetained: 3,
    token: 1_700_000_070_000,
  })
  const oldest = await store.inspect('thread-1')
  expect(oldest.token).toBeGreaterThanOrEqual(1_700_000_000_001)
  const claim = { op: 'claim', owner: 'o', token: 1_700_000_000_001, ttlMs: 1000 } as const
  await expect(store.commit('thread-1', { ops: [claim] })).rejects.toMatchObject({ code: 'conflict' })
})

test('refuses an event whose data is not bytes, and writes nothing of that commit', async () => {
  const store = memoryStore()
  for (const data of ['text', undefined, new DataView(new ArrayBuffer(4)), new Uint16Array(2)]) {
    const bad = [...events(1, 1), { topic: 't', data: data as never }]
    const work = store.commit('p', { ops: [{ op: 'append', token: 1, events: bad }] })
    await expect(work).rejects.toMatchObject({ code: 'invalid_argument' })
  }
  for (const index of [{ k: Number.NaN }, { k: null as never }]) {
    const work = store.commit('p', { ops: [{ op: 'put', collection: 'c', id: 'a', value: 1, index }] })
    await expect(work).rejects.toMatchObject({ code: 'invalid_argument' })
  }
  expect((await store.inspect('p')).head).toBe(0)
})

test('names itself and what it can', () => {
  expect(memoryStore().capabilities).toEqual({ name: 'memory', shared: false, durable: false, coalesceMs: 0 })
})

test('has committed before the promise is awaited', async () => {
  const store = memoryStore()
  const one = store.commit('p', { ops: [{ op: 'append', token: 1, events: events(1, 1) }] })
  const two = store.commit('p', { guards: [{ guard: 'head', seq: 1 }], ops: [] })
  const three = store.commit('p', { guards: [{ guard: 'fence', token: 3 }], ops: [] })
  await expect(three).rejects.toThrow(FencedError)
  expect([await one, await two]).toEqual([
    { head: 1, versions: [] },
    { head: 1, versions: [] },
  ])
})

test('reports a listener that throws, and notifies the others', async () => {
  const report = vi.spyOn(console, 'error').mockImplementation(() => {})
  const store = memoryStore()
  const fault = new Error('on purpose')
  store.watch('p', () => {
    throw fault
  })
  const changes: unknown[] = []
  store.watch('p', (change) => changes.push(change))
  await append(store, 'p', 1, 1)
  await store.commit('p', { ops: [{ op: 'release', token: 1 }] })
  await store.commit('p', { ops: [{ op: 'clear' }] })
  await store.commit('other', { ops: [{ op: 'clear' }] })
  expect(report).toHaveBeenCalledWith(expect.stringContaining('listener'), fault)
  expect(changes).toEqual([
    { log: true, docs: false },
    { log: false, docs: true },
    { log: true, docs: true },
  ])
  report.mockRestore()
})

test('lets a listener stop itself, watch anew and commit', async () => {
  const store = memoryStore()
  const heads: number[] = []
  const listener = () => {
    stop()
    stop = store.watch('p', listener)
    void store.inspect('p').then(({ head }) => heads.push(head))
    void store.commit('other', { ops: [] })
  }
  let stop = store.watch('p', listener)
  await append(store, 'p', 1, 1)
  await append(store, 'p', 1, 1)
  expect(heads).toEqual([1, 2])
})

test('answers UnavailableError once it is closed', async () => {
  const store = memoryStore()
  await store.close()
  await expect(store.inspect('p')).rejects.toThrow(UnavailableError)
  expect(() => store.watch('p', () => {})).toThrow(UnavailableError)
})

test('orders by a field alike whether it was listed by from the beginning or only at the end', async () => {
  const step = fc.record({
    doc: fc.integer({ min: 0, max: 7 }),
    key: fc.option(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b'))),
    isDeleted: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const asked = memoryStore()
      const quiet = memoryStore()
      const listed = (store: Store) =>
        Promise.all([store.list('docs', { orderBy: 'k', descending: true }), store.count('docs', 'k')])
      for (const { doc, key, isDeleted } of steps) {
        const at = { collection: 'docs', id: `${doc}` }
        const index: DocIndex = key === null ? {} : { k: key }
        const op = isDeleted
          ? { op: 'delete' as const, ...at }
          : { op: 'put' as const, ...at, value: doc, index }
        for (const store of [asked, quiet]) await store.commit(`p${doc % 3}`, { ops: [op] })
        await listed(asked)
      }
      const shown = ([{ docs }, count]: Awaited<ReturnType<typeof listed>>) => {
        return { docs: docs.map(({ partition, id, index }) => ({ partition, id, index })), count }
      }
      expect(shown(await listed(quiet))).toEqual(shown(await listed(asked)))
    }),
  )
})
