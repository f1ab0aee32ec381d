import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { describe, expect, test, vi } from 'vitest'
import { checkpointerAudits } from '../../src/audit/checkpointer.ts'
import { storeAudits } from '../../src/audit/store.ts'
import { fencedCheckpointer } from '../../src/storage/checkpointer/fenced.ts'
import type { DurableStorage } from '../../src/storage/durable.ts'
import { FencedError } from '../../src/storage/errors.ts'
import type { MemoryStorage } from '../../src/storage/memory/storage.ts'
import { validateSaver } from './checkpoint-validation/validate.ts'

/** All audits of stores and savers. `open` gives another handle on one database each time. `SEQUENCES` sets how many are random. */
export function auditStorage(name: string, open: () => DurableStorage, few: number): void {
  const sequences = Number(process.env.SEQUENCES ?? few)
  // The audit of a listener that throws makes the store report it.
  vi.spyOn(console, 'error').mockImplementation(() => {})
  describe(`${name}, all handles on one database`, () => {
    for (const { id, name, fn } of storeAudits({ create: () => open().store, reopens: true, sequences })) {
      test(`${id}: ${name}`, { timeout: 60_000 }, fn)
    }
    for (const { id, name, fn } of checkpointerAudits({ create: open })) test(`${id}: ${name}`, fn)
    test('a run saves nothing on a checkpoint that the database has forgotten', () => saveOnForgotten(open()))
  })
}

/** A checkpoint shares the values that it did not change with the one before. */
export async function saveOnForgotten({
  store,
  checkpointer,
}: Pick<MemoryStorage, 'store' | 'checkpointer'>): Promise<void> {
  const threadId = crypto.randomUUID()
  await store.commit(threadId, { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
  const saver = fencedCheckpointer(checkpointer, store, threadId, 1)
  const at = (checkpoint_id?: string) => ({
    configurable: { thread_id: threadId, checkpoint_ns: '', ...(checkpoint_id && { checkpoint_id }) },
  })
  const metadata = { source: 'loop', step: 0, parents: {} } as const
  const checkpointOf = (id: string, values: object) => ({
    ...emptyCheckpoint(),
    id,
    channel_values: { a: 1, ...values },
    channel_versions: { a: 1, ...Object.fromEntries(Object.keys(values).map((key) => [key, 2])) },
  })
  const [first, second, third] = ['1', '2', '3'].map((n) => uuid6(Number(n))) as [string, string, string]
  await saver.put(at(), checkpointOf(first, {}), metadata, { a: 1 })
  // The second one is forgotten.
  await expect(saver.put(at(second), checkpointOf(third, { b: 2 }), metadata, { b: 2 })).rejects.toThrow(
    FencedError,
  )
  expect((await checkpointer.getTuple(at()))?.checkpoint.id).toBe(first)
  await saver.put(at(first), checkpointOf(third, { b: 2 }), metadata, { b: 2 })
  expect((await checkpointer.getTuple(at()))?.checkpoint.channel_values).toEqual({ a: 1, b: 2 })
  // What was put is put again where its answer was lost, also if its parent is gone by then.
  await checkpointer.keepLatest!(threadId)
  await saver.put(at(first), checkpointOf(third, { b: 2 }), metadata, { b: 2 })
}

/** LangGraph's own suite, over the saver and over a fenced view of it. `empty` gives a storage without checkpoints. */
export async function validateStorage(
  name: string,
  empty: () => DurableStorage | Promise<DurableStorage>,
): Promise<void> {
  await validateSaver(name, async () => (await empty()).checkpointer as BaseCheckpointSaver)
  let token = 0
  await validateSaver(`fenced ${name}`, async () => {
    const { store, checkpointer } = await empty()
    token += 1
    await store.commit('run', { ops: [{ op: 'claim', owner: 'o', token, ttlMs: 600_000 }] })
    return fencedCheckpointer(checkpointer, store, 'run', token) as BaseCheckpointSaver
  })
}
