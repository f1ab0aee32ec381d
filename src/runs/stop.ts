import type { RunContext } from './context.ts'
import { cancelRun } from './execution/cancel.ts'
import { isEnded, loadRun, loadThread } from './records/records.ts'
import { recoverThread } from './rescue.ts'

/** How often the end of a run in another process is looked for. */
const POLL_MS = 100

/** Stops the thread's run, wherever it executes, and waits until it has ended. */
export async function stopRun(context: RunContext, threadId: string): Promise<void> {
  for (;;) {
    const runId = (await loadThread(context.store, threadId))?.record.activeRunId
    if (runId == null) return
    await cancelRun(context, threadId, runId, 'interrupt')
    await waitForEnd(context, threadId, runId)
  }
}

/** Settles when the run has ended. One whose process is lost ends when its lease is over. */
export async function waitForEnd(context: RunContext, threadId: string, runId: string): Promise<void> {
  for (;;) {
    const run = (await loadRun(context.store, threadId, runId))?.record
    if (!run || isEnded(run)) return
    const local = context.active.get(threadId)
    if (local?.runId === runId) {
      await local.done
    } else {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      await recoverThread(context, threadId)
    }
  }
}
