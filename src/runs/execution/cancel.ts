import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import {
  type CancelAction,
  guardThread,
  isEnded,
  loadRun,
  loadThread,
  putRun,
  putThread,
} from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'

/** A rollback is not weakened by an interrupt, whichever came first. */
export const strongerCancel = (before: CancelAction | null, now: CancelAction): CancelAction =>
  before === 'rollback' ? before : now

/**
 * Asks a run to stop, wherever it executes; a run that still waits is dropped. Returns when that is recorded, not when the
 * agent has stopped. An ended run is left alone. Throws `RunError` `no_such_run`.
 */
export async function cancelRun(
  context: RunContext,
  threadId: string,
  runId: string,
  action: CancelAction,
): Promise<void> {
  const { store } = context
  await retryConflicts(async () => {
    const [thread, run] = await Promise.all([loadThread(store, threadId), loadRun(store, threadId, runId)])
    if (!thread || !run)
      throw new RunError('no_such_run', `Run ${JSON.stringify(runId)} not found on this thread.`)
    if (isEnded(run.record)) return
    const unchanged = { guard: 'version', collection: 'runs', id: runId, version: run.version } as const
    if (run.record.status === 'pending') {
      const queue = thread.record.queue.filter((queued) => queued.runId !== runId)
      await store.commit(threadId, {
        guards: [guardThread(threadId, thread), unchanged],
        ops: [putRun({ ...run.record, status: 'interrupted' }), putThread({ ...thread.record, queue })],
      })
      return
    }
    const cancel = strongerCancel(run.record.cancel, action)
    if (cancel !== run.record.cancel) {
      await store.commit(threadId, { guards: [unchanged], ops: [putRun({ ...run.record, cancel })] })
    }
    const local = context.active.get(threadId)
    if (local?.runId === runId) local.stop(cancel)
  })
}
