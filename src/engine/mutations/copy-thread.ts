import { copyCheckpoints } from '../../storage/checkpointer/copy.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { claimLease, nextToken, releaseLease } from '../../storage/coordination/leases.ts'
import { checkpointerOf, type RunContext, readerOf } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { keepRenewing } from '../execution/lease.ts'
import { openInterrupts } from '../records/interrupts.ts'
import { newThread, type ThreadRecord } from '../records/records.ts'
import { putThread } from '../records/thread.ts'
import { addressOf } from '../threads/state.ts'
import { findThread, type OwnedThread } from '../threads/threads.ts'
import { removeMarked } from './remove-thread.ts'

/**
 * Creates a thread with the whole history of another one, which may be busy: what its run has saved so far is
 * copied. The copy has no runs or events. Throws `no_such_thread`.
 */
export async function copyThread(
  context: RunContext,
  { newThreadId, ...from }: OwnedThread & { readonly newThreadId: string },
): Promise<ThreadRecord> {
  const { store } = context
  const { threadId, owner } = from
  const source = await findThread(context, from)
  if (!source) throw noSuchThread(threadId)
  const state = await store.inspect(newThreadId)
  const token = nextToken(state)
  const { assistantId, title, metadata, restoredCheckpointId, restoredWrites } = source
  const made: ThreadRecord = {
    ...newThread(newThreadId, owner, state.now),
    ...{ assistantId, title, restoredCheckpointId, restoredWrites },
    metadata: { ...metadata, thread_id: newThreadId },
  }
  // Until the copy is complete, the thread is marked for deletion, so that the copy of a lost process is
  // deleted.
  await store.commit(newThreadId, {
    guards: [{ guard: 'absent', collection: 'threads', id: newThreadId }, { guard: 'free' }],
    ops: [claimLease(context, token), putThread({ ...made, deleting: true })],
  })
  const stopRenewing = keepRenewing(context, newThreadId, token)
  try {
    const agent = readerOf(context, assistantId)
    const saver = checkpointerOf(context, agent)
    const target = fencedCheckpointer(saver, store, newThreadId, token)
    await copyCheckpoints(saver, target, { from: threadId, to: newThreadId })
    if (!(await findThread(context, from))) throw noSuchThread(threadId)
    const snapshot = await agent.getState(addressOf(context, made, {}))
    const interrupts = snapshot ? openInterrupts(snapshot, []) : []
    const copy: ThreadRecord = { ...made, interrupts, status: interrupts.length > 0 ? 'interrupted' : 'idle' }
    await store.commit(newThreadId, {
      guards: [{ guard: 'fence', token }],
      ops: [putThread(copy), { op: 'release', token }],
    })
    return copy
  } catch (error) {
    await releaseLease(store, newThreadId, token)
    await removeMarked(context, newThreadId)
    throw error
  } finally {
    stopRenewing()
  }
}
