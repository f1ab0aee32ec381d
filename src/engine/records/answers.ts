import type { Op, Store } from '../../storage/store/store.ts'
import {
  type AnswerLink,
  type AnswerRecord,
  type AnswerState,
  isEnded,
  loadAnswer,
  newAnswer,
  putAnswer,
  type RunRecord,
  readAnswer,
  restStatusOf,
  type ThreadRecord,
  taskField,
} from './records.ts'

const GIVEN_UP = 'The conversation continued without an answer.'

/** Ends an answer with open questions if the run that comes `next` does not continue it. */
export async function giveUpAnswer(
  store: Store,
  thread: ThreadRecord,
  { now, next }: { readonly now: number; readonly next?: AnswerLink | null | undefined },
): Promise<readonly Op[]> {
  const { threadId, lastTaskId } = thread
  if (restStatusOf(thread) !== 'interrupted' || lastTaskId === undefined || lastTaskId === next?.taskId)
    return []
  const task = await loadAnswer(store, threadId, lastTaskId)
  if (task?.state !== 'input-required') return []
  return [putAnswer({ ...task, state: 'canceled', error: GIVEN_UP, updatedAt: now })]
}

/** The answer of a run that was not started as one: it only has this run, and is in no list. */
export function answerOfRun(thread: ThreadRecord, run: RunRecord): AnswerRecord {
  const { runId, status, error, createdAt, startedAt, firstSeq } = run
  const asks = thread.lastRunId === runId || thread.interrupts.some((open) => open.runId === runId)
  const waits = status === 'interrupted' && restStatusOf(thread) === 'interrupted' && asks
  return {
    ...newAnswer(thread.owner, run, { taskId: runId, createdAt, details: null }),
    state: waits ? 'input-required' : STATES[status],
    runIds: [runId],
    openRunIds: isEnded(run) ? [] : [runId],
    firstSeq,
    error,
    updatedAt: startedAt ?? createdAt,
  }
}

const STATES: Readonly<Record<RunRecord['status'], AnswerState>> = {
  pending: 'submitted',
  running: 'working',
  success: 'completed',
  error: 'failed',
  interrupted: 'canceled',
}

/** Which answers to list. */
export interface AnswerListQuery {
  readonly owner: string | null
  readonly assistantId: string
  readonly threadId?: string | undefined
  readonly state?: AnswerState | undefined
  /** Only answers whose state has changed since, in milliseconds since 1970. */
  readonly since?: number | undefined
  /** At most 1,000. */
  readonly limit: number
  readonly cursor?: string | undefined
}

/** A page of answers. */
export interface AnswerPage {
  readonly tasks: readonly AnswerRecord[]
  /** Absent on the last page. */
  readonly cursor?: string
  /** The total number of tasks on all pages. */
  readonly total: number
}

/** A page of tasks, last changed first. */
export async function listAnswers(
  store: Store,
  { limit, cursor: from, since = 0, state, ...list }: AnswerListQuery,
): Promise<AnswerPage> {
  const order = { orderBy: taskField(list, state), descending: true }
  const [{ docs, cursor }, all] = await Promise.all([
    store.list('answers', { ...order, limit, ...(from !== undefined && { cursor: from }) }),
    store.count('answers', order.orderBy),
  ])
  const page = docs.map(readAnswer)
  const tasks = page.filter(({ updatedAt }) => updatedAt >= since)
  const isEnd = cursor === undefined || tasks.length < page.length
  // The tasks are ordered by their changes, so a binary search finds the first that is too old. It starts
  // near the newest, because a store may have to walk to an offset.
  let [total, end] = since > 0 ? [0, all] : [all, all]
  for (let step = limit; total < end; step *= 2) {
    const offset = Math.min(total + step, Math.floor((total + end) / 2))
    const [doc] = (await store.list('answers', { ...order, offset, limit: 1 })).docs
    if (doc && readAnswer(doc).updatedAt >= since) total = offset + 1
    else end = offset
  }
  return { tasks, total, ...(!isEnd && { cursor }) }
}

/** The run of an answer that is active or ends next, otherwise the last one. */
export const currentRun = ({ runIds, openRunIds }: AnswerRecord): string => openRunIds[0] ?? runIds.at(-1)!
