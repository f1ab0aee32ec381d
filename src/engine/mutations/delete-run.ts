import type { RunContext } from '../context.ts'
import { cancelRun } from '../execution/cancel.ts'
import { guardRun, isEnded, loadRun, removeRun } from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import { waitForEnd } from '../subscriptions/wait-for-end.ts'
import { findThread, type OwnedRun } from '../threads/threads.ts'

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
