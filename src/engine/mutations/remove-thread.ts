import { reaches } from '../../core/principal.ts'
import { sleep } from '../../core/time.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { claimLease, isHeld, nextToken, releaseLease } from '../../storage/coordination/leases.ts'
import { ConflictError, FencedError } from '../../storage/errors.ts'
import type { Doc, Store } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { cancelRun } from '../execution/cancel.ts'
import { dropWaiting } from '../execution/enqueue.ts'
import { keepRenewing } from '../execution/lease.ts'
import {
  guardRun,
  guardThread,
  isEnded,
  loadRun,
  loadThread,
  loadWithState,
  readThread,
  removeRun,
  type ThreadRecord,
} from '../records/records.ts'
import { putThread, retryConflicts } from '../records/thread.ts'
import { commitTransitions } from '../records/transition.ts'
import { waitForEnd } from '../subscriptions/wait-for-end.ts'
import { findThread, type OwnedRun, type OwnedThread, savedThread } from '../threads/threads.ts'
import { shortenExpired } from './keep-latest.ts'
import { saversOfThread } from './savers-of-thread.ts'

/** Deletes the record of a run, after the run has ended. */
export async function deleteRun(context: RunContext, run: OwnedRun): Promise<boolean> {
  const { threadId, runId } = run
  const { store } = context
  const found = (await findThread(context, run)) && (await loadRun(store, threadId, runId))
  if (!found) return false
  if (!isEnded(found.record)) {
    await cancelRun(context, threadId, runId, 'interrupt')
    await waitForEnd(context, threadId, runId)
  }
  await retryConflicts(async () => {
    const run = await loadRun(store, threadId, runId)
    if (run) await store.commit(threadId, { guards: [guardRun(run)], ops: [removeRun(run.record)] })
  })
  return true
}

/** The interval of checks whether another process still holds the thread. */
const POLL_MS = 50

/**
 * Deletes a thread: rejects new runs, stops the active one and waits for its end, then deletes checkpoints,
 * records and log. False if the owner has no such thread. Any process can finish an interrupted deletion: see
 * `removeMarked`.
 */
export async function deleteThread(context: RunContext, thread: OwnedThread): Promise<boolean> {
  const { threadId } = thread
  const how = await retryConflicts(() => markDeleting(context, thread))
  if (how === 'unknown') return false
  if (how === 'removed') return true
  for (;;) {
    await stopRun(context, threadId)
    if (await removeMarked(context, threadId)) return true
    await sleep(POLL_MS)
  }
}

/** Stops the thread's run, wherever it executes, and waits until it has ended. */
async function stopRun(context: RunContext, threadId: string): Promise<void> {
  for (;;) {
    const runId = (await loadThread(context.store, threadId))?.record.activeRunId
    if (runId == null) return
    await cancelRun(context, threadId, runId, 'interrupt')
    await waitForEnd(context, threadId, runId)
  }
}

/**
 * Marks a thread for deletion: no run starts on it any more, and no caller sees it. A free thread is deleted
 * immediately. Throws `ConflictError` if another process changed the thread first.
 */
export async function markDeleting(
  context: RunContext,
  asked: OwnedThread,
): Promise<'unknown' | 'marked' | 'removed'> {
  const { store } = context
  const { threadId } = asked
  const { state, read } = await loadWithState(store, threadId)
  const thread = read ? read.record : await savedThread(context, asked)
  if (!thread || !reaches(asked, thread)) return 'unknown'
  if (thread.deleting) return 'marked'
  const isFree = thread.activeRunId === null && !isHeld(state)
  const token = nextToken(state)
  const marked = { ...thread, deleting: true, queue: [] }
  const ended = await dropWaiting(context, thread, 'deleted')
  await commitTransitions(context, ended, (ops) =>
    store.commit(threadId, {
      guards: [guardThread(threadId, read), ...(isFree ? [{ guard: 'free' } as const] : [])],
      ops: [...ops, ...(isFree ? [claimLease(context, token)] : []), putThread(marked)],
    }),
  )
  if (!isFree) return 'marked'
  return (await tryRemove(context, marked, token)) ? 'removed' : 'marked'
}

/**
 * Deletes a marked thread if it is free. True if the thread no longer exists, false while a run or another
 * process holds it. The deleting process holds the lease, so that a slow one cannot delete a new thread with
 * the same id.
 */
export async function removeMarked(context: RunContext, threadId: string): Promise<boolean> {
  const { store } = context
  const { state, read } = await loadWithState(store, threadId)
  if (!read?.record.deleting) return true
  const { activeRunId } = read.record
  if (activeRunId !== null) {
    await cancelRun(context, threadId, activeRunId, 'interrupt')
    return false
  }
  if (isHeld(state)) return false
  const token = nextToken(state)
  try {
    await store.commit(threadId, {
      guards: [guardThread(threadId, read), { guard: 'free' }],
      ops: [claimLease(context, token)],
    })
  } catch (error) {
    // Another process was first.
    if (error instanceof ConflictError) return false
    throw error
  }
  return tryRemove(context, read.record, token)
}

/**
 * Deletes a thread whose lease is held with the token. False if another process took over because this one
 * was slow.
 */
async function tryRemove(context: RunContext, thread: ThreadRecord, token: number): Promise<boolean> {
  try {
    await removeThread(context, thread, token)
    return true
  } catch (error) {
    if (error instanceof ConflictError || error instanceof FencedError) return false
    throw error
  }
}

async function removeThread(context: RunContext, thread: ThreadRecord, token: number): Promise<void> {
  const { store } = context
  const { threadId, owner } = thread
  const heldAt = performance.now()
  const stopRenewing = keepRenewing(context, threadId, token)
  try {
    for (const saver of saversOfThread(context, thread.assistantId))
      await fencedCheckpointer(saver, store, threadId, token, () => heldAt).deleteThread(threadId)
    await store.commit(threadId, { guards: [{ guard: 'fence', token }], ops: [{ op: 'clear' }] })
  } catch (error) {
    await releaseLease(store, threadId, token)
    throw error
  } finally {
    stopRenewing()
  }
  context.watchers.drop(threadId, new RunError('no_such_thread', 'The thread was deleted.'))
  context.observe({ type: 'thread.deleted', threadId, owner, at: Date.now() })
}

/**
 * Deletes or shortens threads whose time to live has expired, longest expired first. A thread that changed in
 * the meantime has a new time. Safe on several instances at the same time. Returns the threads that it tried
 * to shorten: runs may wait on them now.
 */
export async function removeExpired(context: RunContext): Promise<readonly string[]> {
  const { store, closing } = context
  const shortened: string[] = []
  const { docs } = await store.list('threads', { orderBy: 'expires' })
  const now = await timeFor(store, docs)
  for (const doc of docs) {
    const { partition: threadId, version, index } = doc
    if (closing.signal.aborted || Number(index.expires) > now) break
    const record = readThread(doc)
    if (record.ttl?.strategy === 'keep_latest') {
      await shortenExpired(context, { record, version })
      shortened.push(threadId)
      continue
    }
    try {
      await store.commit(threadId, {
        guards: [guardThread(threadId, { record, version }), { guard: 'free' }],
        ops: [putThread({ ...record, deleting: true })],
      })
      await removeMarked(context, threadId)
    } catch (error) {
      // A client or another instance was first.
      if (!(error instanceof ConflictError)) throw error
    }
  }
  return shortened
}

/**
 * The time of the store's clock, because the clocks of instances may differ. 0 if there are no documents to
 * compare with it.
 */
export async function timeFor(store: Store, [doc]: readonly Doc[]): Promise<number> {
  return doc ? (await store.inspect(doc.partition)).now : 0
}
