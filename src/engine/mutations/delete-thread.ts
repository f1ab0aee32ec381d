import { sleep } from '../../core/time.ts'
import type { RunContext } from '../context.ts'
import { cancelRun } from '../execution/cancel.ts'
import { loadThread } from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import { waitForEnd } from '../subscriptions/wait-for-end.ts'
import type { OwnedThread } from '../threads/threads.ts'
import { markDeleting, removeMarked } from './remove-thread.ts'

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
