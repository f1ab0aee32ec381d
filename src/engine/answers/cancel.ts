import type { RunContext } from '../context.ts'
import { noSuchTask } from '../errors.ts'
import { cancelRun } from '../execution/cancel.ts'
import {
  type AnswerRecord,
  guardThread,
  loadAnswer,
  loadThread,
  putAnswer,
  resting,
  restStatusOf,
} from '../records/records.ts'
import { putThread, retryConflicts } from '../records/thread.ts'
import type { OwnedThread } from '../threads/threads.ts'
import { findAnswer } from './find.ts'

/**
 * Cancels an answer: its runs, waiting ones first, or its open questions. Resolves when that is recorded.
 * Returns the answer before the cancel, and changes nothing if it had ended. Throws `no_such_task`.
 */
export async function cancelAnswer(
  context: RunContext,
  asked: OwnedThread & { readonly answerId: string },
): Promise<AnswerRecord> {
  const { store } = context
  const { threadId } = asked
  return retryConflicts(async () => {
    // The version of the thread guards the values that are read after it.
    const thread = await loadThread(store, threadId)
    const task = (await findAnswer(context, asked))?.record
    if (!thread || !task) throw noSuchTask(asked.answerId)
    for (const runId of [...task.openRunIds].reverse()) await cancelRun(context, threadId, runId, 'interrupt')
    if (task.state !== 'input-required') return task
    const interrupts = thread.record.interrupts.filter(({ runId }) => !task.runIds.includes(runId))
    const status = interrupts.length > 0 ? restStatusOf(thread.record) : 'idle'
    const [{ now: updatedAt }, recorded] = await Promise.all([
      store.inspect(threadId),
      loadAnswer(store, threadId, task.taskId),
    ])
    await store.commit(threadId, {
      guards: [guardThread(threadId, thread)],
      ops: [
        putThread({ ...thread.record, interrupts, ...resting(thread.record, status), updatedAt }),
        ...(recorded ? [putAnswer({ ...task, state: 'canceled', updatedAt })] : []),
      ],
    })
    return task
  })
}
