import { MemorySaver } from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { DATABASE, fencedCheckpointer } from '../../../src/storage/checkpointer/fenced.ts'
import { FencedError } from '../../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'

const config = { configurable: { thread_id: 't', checkpoint_ns: '' } }
const metadata = { source: 'loop' as const, step: 0, parents: {} }
const checkpoint = { v: 4, id: '1', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} }

async function held(token = 1) {
  const store = memoryStore()
  await store.commit('t', { ops: [{ op: 'claim', owner: 'o', token, ttlMs: 60_000 }] })
  return store
}

class PrivateSaver extends MemorySaver {
  #puts = 0
  label = 'private'
  override async put(...args: Parameters<MemorySaver['put']>) {
    this.#puts += 1
    return super.put(...args)
  }
  get puts(): number {
    return this.#puts
  }
  count(): number {
    return this.#puts
  }
}

test('works over a saver with private fields, getters and methods of its own', async () => {
  const inner = new PrivateSaver()
  const view = fencedCheckpointer(
    inner as unknown as Checkpointer,
    await held(),
    't',
    1,
  ) as unknown as PrivateSaver
  await view.put(config, checkpoint, metadata)
  expect([view.puts, view.count(), inner.puts]).toEqual([1, 1, 1])
  expect(view.serde).toBe(inner.serde)
  expect(view.getNextVersion(3)).toBe(4)
  expect(view instanceof PrivateSaver).toBe(true)
  expect(view.constructor).toBe(PrivateSaver)
  expect('withSerde' in view || 'withFence' in view).toBe(false)
  expect((view as Partial<Checkpointer>).withSerde).toBeUndefined()
  expect('label' in view && 'put' in view && !('other' in view)).toBe(true)
  view.label = 'new'
  expect(inner.label).toBe('new')
  expect(view.put).toBe(view.put)
  expect((await view.get(config))?.id).toBe('1')
  expect(JSON.stringify({ view })).toBe('{"view":"[PrivateSaver]"}')
})

test('works over a frozen saver', async () => {
  const inner = Object.freeze(memoryCheckpointer())
  const view = fencedCheckpointer(inner, await held(2), 't', 1)
  await expect(view.put(config, checkpoint, metadata, {})).rejects.toThrow(FencedError)
  await expect(view.putWrites(config, [], 'task')).rejects.toThrow(FencedError)
  expect(await inner.getTuple(config)).toBeUndefined()
})

test('asks a saver over the same database to fence itself, and no other', async () => {
  const database = {}
  const asked: unknown[] = []
  const own = memoryCheckpointer()
  const inner: Checkpointer = {
    ...memoryCheckpointer(),
    withFence(...args) {
      asked.push(args)
      return own
    },
  }
  const store = await held()
  const here = { ...store, [DATABASE]: database }
  expect(fencedCheckpointer({ ...inner, [DATABASE]: database } as Checkpointer, here, 't', 7)).toBe(own)
  expect(asked).toEqual([['t', 7]])
  for (const [saver, at] of [
    [inner, store],
    [inner, here],
    [{ ...inner, [DATABASE]: {} }, here],
  ] as const) {
    await expect(
      fencedCheckpointer(saver as Checkpointer, at, 't', 7).put(config, checkpoint, metadata, {}),
    ).rejects.toThrow(FencedError)
  }
  expect(asked.length).toBe(1)
})
