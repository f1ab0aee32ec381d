import { within } from '../core/time.ts'
import type { RunContext } from './context.ts'
import { markDeleting, removeExpired, removeMarked, timeFor } from './mutations/remove-thread.ts'
import { readThread } from './records/records.ts'
import { retryConflicts } from './records/thread.ts'

/** Deletes expired threads and records. */
export async function deleteExpired(context: RunContext): Promise<void> {
  for (const threadId of await removeExpired(context)) await context.recover(threadId)
  await context.store.sweep()
}

/** How many intervals a temporary thread stays readable after its last change. */
const ABANDONED_AFTER = 6

/**
 * Marks temporary threads for deletion that have not changed for `afterMs` milliseconds and were not deleted,
 * because the process that created them was lost.
 */
async function markAbandoned(context: RunContext, afterMs: number): Promise<void> {
  const { docs } = await context.store.list('threads', { orderBy: 'temporary' })
  const now = await timeFor(context.store, docs)
  for (const doc of docs) {
    const { threadId, owner, activeRunId, queue } = readThread(doc)
    if ((doc.index.temporary as number) > now - afterMs || activeRunId !== null || queue.length > 0) continue
    await retryConflicts(() => markDeleting(context, { threadId, owner, metadataFilter: undefined }))
  }
}

/** How many threads an instance recovers at the same time. */
const RECOVERED_AT_ONCE = 8

/**
 * Takes over orphaned runs, starts runs that wait on free threads, and finishes interrupted deletions:
 * longest waiting first, several at a time. A thread that takes longer than `deadlineMs` continues in the
 * background, so that it does not delay others; `recovering` contains these threads.
 */
export async function finishOrphanedWork(
  context: RunContext,
  recovering: Set<string>,
  deadlineMs: number,
): Promise<void> {
  const { store, active, closing, report } = context
  await markAbandoned(context, ABANDONED_AFTER * deadlineMs)
  const [expired, queued, deleting] = await Promise.all([
    store.expired(),
    store.list('threads', { orderBy: 'queued' }),
    store.list('threads', { orderBy: 'deleting' }),
  ])
  // A thread that waits for a start time is checked shortly before it.
  const soon = (await timeFor(store, queued.docs)) + 2 * deadlineMs
  const due = queued.docs.filter(({ index }) => (index.queued as number) <= soon)
  const orphaned = [...expired, ...due].map(({ partition }) => partition)
  const marked = new Set(deleting.docs.map(({ partition }) => partition))
  const waiting = new Set([...orphaned, ...marked])

  async function recover(threadId: string): Promise<void> {
    recovering.add(threadId)
    try {
      if (!active.has(threadId)) await context.recover(threadId)
      if (marked.has(threadId)) await removeMarked(context, threadId)
    } catch (error) {
      // Work that could not be taken over before the close is left to another process.
      if (!closing.signal.aborted) report(error, { threadId })
    } finally {
      recovering.delete(threadId)
    }
  }

  const recoverInTurn = async (): Promise<void> => {
    for (const threadId of waiting) {
      waiting.delete(threadId)
      if (closing.signal.aborted) return
      if (!recovering.has(threadId)) await within(deadlineMs, recover(threadId))
    }
  }
  await Promise.all(Array.from({ length: RECOVERED_AT_ONCE }, recoverInTurn))
}
