import { ConflictError, FencedError } from '../../storage/errors.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { cancelRun } from '../execution/cancel.ts'
import { isHeld, keepRenewing, releaseLease } from '../execution/lease.ts'
import { guardThread, loadThread, putThread, type ThreadRecord } from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import { recoverThread } from '../rescue.ts'
import { stopRun } from '../stop.ts'
import { savedThread } from './threads.ts'

/** How often the end of another process's work on the thread is looked for. */
const POLL_MS = 50

/**
 * Removes a thread: refuses new runs, stops the one in progress and waits for its end, then drops checkpoints, records and
 * log. False when the owner has no such thread. What is cut short is finished by any process: see `removeMarked`.
 */
export async function deleteThread(
  context: RunContext,
  threadId: string,
  owner: string | null,
): Promise<boolean> {
  if (!(await retryConflicts(() => markDeleted(context, threadId, owner)))) return false
  for (;;) {
    await stopRun(context, threadId)
    if (await removeMarked(context, threadId)) return true
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Enters that the thread is to go: nothing starts on it any more, and it is shown to nobody. */
async function markDeleted(context: RunContext, threadId: string, owner: string | null): Promise<boolean> {
  const { store } = context
  const read = await loadThread(store, threadId)
  const thread = read ? read.record : await savedThread(context, threadId, owner)
  if (!thread || thread.owner !== owner) return false
  if (thread.deleting) return true
  await store.commit(threadId, {
    guards: [guardThread(threadId, read)],
    ops: [putThread({ ...thread, deleting: true, queue: [] })],
  })
  return true
}

/**
 * Takes the deletion of a thread as far as it goes now. True when the thread is gone, false while a run or another process
 * holds it. The lease is held meanwhile, so that no late deleter can take a new thread of this name for the old one.
 */
export async function removeMarked(context: RunContext, threadId: string): Promise<boolean> {
  const { store } = context
  const state = await store.inspect(threadId)
  const read = await loadThread(store, threadId)
  if (!read?.record.deleting) return true
  const { activeRunId } = read.record
  if (activeRunId !== null) {
    await cancelRun(context, threadId, activeRunId, 'interrupt')
    if (!isHeld(state)) await recoverThread(context, threadId)
    return false
  }
  if (isHeld(state)) return false
  const token = Math.max(state.token + 1, state.now)
  try {
    await store.commit(threadId, {
      guards: [guardThread(threadId, read), { guard: 'free' }],
      ops: [{ op: 'claim', owner: context.instance, token, ttlMs: context.leaseTtlMs }],
    })
    await removeThread(context, read.record, token)
    return true
  } catch (error) {
    // Another process was first, or took over because this one was slow.
    if (error instanceof ConflictError || error instanceof FencedError) return false
    throw error
  }
}

async function removeThread(context: RunContext, thread: ThreadRecord, token: number): Promise<void> {
  const { store } = context
  const { threadId } = thread
  // A renewal that fails is told of by the commit, which needs the lease.
  const letGo = keepRenewing(context, threadId, token, (renewal) => renewal.catch(() => {}))
  try {
    const agent = context.agents.get(thread.assistantId ?? context.defaultAgent)
    await store.assertFence(threadId, token)
    await (agent?.checkpointer ?? context.checkpointer).deleteThread(threadId)
    await store.commit(threadId, { guards: [{ guard: 'fence', token }], ops: [{ op: 'clear' }] })
  } catch (error) {
    await releaseLease(store, threadId, token)
    throw error
  } finally {
    letGo()
  }
  context.watchers.drop(threadId, new RunError('no_such_thread', 'The thread was deleted.'))
}
