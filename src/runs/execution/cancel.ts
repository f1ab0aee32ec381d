import type { RunContext } from '../context.ts'
import { noSuchRun } from '../errors.ts'
import {
  type CancelAction,
  guardThread,
  isEnded,
  loadRun,
  loadThread,
  putThread,
  requestCancel,
  strongerCancel,
} from '../records/records.ts'
import { commitTransitions, dropped } from '../records/transition.ts'
import { retryConflicts } from '../records/update.ts'

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
    if (!thread || !run) throw noSuchRun(runId)
    if (isEnded(run.record)) return
    const unchanged = { guard: 'version', collection: 'runs', id: runId, version: run.version } as const
    if (run.record.status === 'pending') {
      const queue = thread.record.queue.filter((queued) => queued.runId !== runId)
      const cancelled = dropped(thread.record, run.record, 'cancelled')
      await commitTransitions(context.observe, [cancelled], (ops) =>
        store.commit(threadId, {
          guards: [guardThread(threadId, thread), unchanged],
          ops: [...ops, putThread({ ...thread.record, queue })],
        }),
      )
      return
    }
    const cancel = strongerCancel(run.record.cancel, action)
    if (cancel !== run.record.cancel) {
      await store.commit(threadId, { guards: [unchanged], ops: [requestCancel(run.record, cancel)] })
    }
    const local = context.active.get(threadId)
    if (local?.runId === runId) local.stop(cancel)
  })
}
