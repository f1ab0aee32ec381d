import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { describe, test, vi } from 'vitest'
import { checkpointerAudits } from '../../src/audit/checkpointer.ts'
import { storeAudits } from '../../src/audit/store.ts'
import { fencedCheckpointer } from '../../src/storage/checkpointer/fenced.ts'
import type { DurableStorage } from '../../src/storage/durable.ts'
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
  })
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
