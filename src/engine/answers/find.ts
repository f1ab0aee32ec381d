import type { StateSnapshot } from '../../agents/agent.ts'
import type { RunContext } from '../context.ts'
import { answerOfRun } from '../records/answers.ts'
import {
  type AnswerRecord,
  isAnswerEnded,
  loadAnswer,
  loadRun,
  restStatusOf,
  type ThreadRecord,
} from '../records/records.ts'
import { readHistory } from '../threads/state.ts'
import { findThread, type OwnedThread } from '../threads/threads.ts'

/** An answer with its thread, read together. */
export interface FoundAnswer {
  readonly thread: ThreadRecord
  readonly record: AnswerRecord
  /**
   * False for a run that was not started as an answer. It is one under its own id, as long as its record is
   * kept.
   */
  readonly isKept: boolean
}

/** Which answer to find. */
export interface AnswerQuery {
  /**
   * Its id, or that of one of its runs. Default: the active answer, which runs, waits for its turn, or has
   * open questions.
   */
  readonly answerId?: string | undefined
  /** The thread, if the caller has just read it. */
  readonly thread?: ThreadRecord | undefined
}

/** Finds an answer in one of the caller's threads. */
export async function findAnswer(
  context: RunContext,
  { answerId, thread: known, ...asked }: OwnedThread & AnswerQuery,
): Promise<FoundAnswer | undefined> {
  if (answerId === undefined) {
    const thread = known ?? (await findThread(context, asked))
    return thread && activeOf(context, thread)
  }
  const read = (thread?: ThreadRecord) =>
    Promise.all([thread ?? findThread(context, asked), loadAnswer(context.store, asked.threadId, answerId)])
  let [thread, record] = await read(known)
  // One of the two may be older than a commit that changed both.
  if (thread && record && (record.state === 'input-required') !== isAskedBy(thread, record))
    [thread, record] = await read()
  if (!thread) return undefined
  return record ? { thread, record, isKept: true } : answerOf(context, thread, answerId)
}

const isAskedBy = (thread: ThreadRecord, { taskId }: AnswerRecord): boolean =>
  restStatusOf(thread) === 'interrupted' && thread.lastTaskId === taskId

/** The answer of a thread that runs or waits for its turn, otherwise the one with open questions. */
export async function activeOf(context: RunContext, thread: ThreadRecord): Promise<FoundAnswer | undefined> {
  const { activeRunId, queue, lastRunId } = thread
  const asking = restStatusOf(thread) === 'interrupted' ? lastRunId : null
  const runId = activeRunId ?? queue[0]?.runId ?? asking
  if (runId === null) return undefined
  const found = await answerOf(context, thread, runId)
  return found && !isAnswerEnded(found.record) ? found : undefined
}

/** The answer that a run belongs to. */
export async function answerOf(
  { store }: RunContext,
  thread: ThreadRecord,
  runId: string,
): Promise<FoundAnswer | undefined> {
  const { threadId, lastRunId, lastTaskId } = thread
  if (runId === lastRunId && lastTaskId !== undefined) {
    const record = await loadAnswer(store, threadId, lastTaskId)
    if (record) return { thread, record, isKept: true }
  }
  const run = (await loadRun(store, threadId, runId))?.record
  if (!run) return undefined
  if (!run.task) return { thread, record: answerOfRun(thread, run), isKept: false }
  const record = await loadAnswer(store, threadId, run.task.taskId)
  return record && { thread, record, isKept: true }
}

/**
 * The checkpoint whose state does not contain a message yet, from which a run can fork before it, on any
 * branch of the thread. Null if the first state contains it: the run then begins with an empty state.
 * Undefined if no state contains it, or the caller has no such thread.
 */
export async function checkpointBefore(
  context: RunContext,
  { messageId, ...asked }: OwnedThread & { readonly messageId: string },
): Promise<string | null | undefined> {
  const thread = await findThread(context, asked)
  if (!thread) return undefined
  /** The parents of the states that contain the message. */
  const parents = new Set<string>()
  let isFirst = false
  for await (const state of readHistory(context, thread, {}, {})) {
    const { parentCheckpoint, checkpoint } = state
    if (hasMessage(state, messageId)) {
      if (parentCheckpoint) parents.add(parentCheckpoint.checkpointId)
      else isFirst = true
    } else if (parents.has(checkpoint.checkpointId)) return checkpoint.checkpointId
  }
  return isFirst ? null : undefined
}

const hasMessage = ({ values: { messages } }: StateSnapshot, messageId: string): boolean =>
  Array.isArray(messages) && messages.some((message) => Object(message).id === messageId)
