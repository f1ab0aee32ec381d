import type { RunContext } from '../context.ts'
import { noSuchRun } from '../errors.ts'
import {
  type CancelAction,
  guardRun,
  guardThread,
  isEnded,
  loadRun,
  loadThread,
  requestCancel,
  strongerCancel,
  withoutQueued,
} from '../records/records.ts'
import { putThread, retryConflicts } from '../records/thread.ts'
import { commitTransitions, dropped } from '../records/transition.ts'
import { dropWaiting } from './enqueue.ts'

/**
 * Asks a run to stop, wherever it executes; a waiting run is dropped. Resolves when that is recorded, not
 * when the agent has stopped. An ended run is not changed. Throws `RunError` `no_such_run`.
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
    if (!thread || !run) throw noSuchRun()
    if (isEnded(run.record)) return
    const unchanged = guardRun(run)
    if (run.record.status === 'pending') {
      const cancelled = dropped(thread.record, { ...run.record, cancel: action }, 'cancelled')
      await commitTransitions(context, [cancelled], (ops) =>
        store.commit(threadId, {
          guards: [guardThread(threadId, thread), unchanged],
          ops: [...ops, putThread(withoutQueued(thread.record, [runId]))],
        }),
      )
      return
    }
    const cancel = strongerCancel(run.record.cancel, action)
    // A client that stops a run does not want it to continue with the answers that wait after it.
    const queue = thread.record.queue.filter(({ answers }) => answers.length > 0)
    const ops = [requestCancel(run.record, cancel)]
    if (queue.length > 0) {
      const ended = await dropWaiting(context, { ...thread.record, queue }, 'cancelled')
      const runIds = queue.map((answer) => answer.runId)
      await commitTransitions(context, ended, (endings) =>
        store.commit(threadId, {
          guards: [guardThread(threadId, thread), unchanged],
          ops: [...ops, ...endings, putThread(withoutQueued(thread.record, runIds))],
        }),
      )
    } else if (cancel !== run.record.cancel) {
      await store.commit(threadId, { guards: [unchanged], ops })
    }
    const local = context.active.get(threadId)
    if (local?.runId === runId) local.stop(cancel)
  })
}
