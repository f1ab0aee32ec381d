import { rejectionOf } from '../../agents/errors.ts'
import { clientToolNames } from '../../agents/model-request.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import type { Op, Store } from '../../storage/store/store.ts'
import { isTimeout } from '../errors.ts'
import type { ShownFailure } from '../failures.ts'
import type { AboutRun, RunEndReason, RunEvent, ServerEvent } from '../observe.ts'
import {
  type AnswerRecord,
  type AnswerState,
  isEnded,
  loadAnswer,
  newAnswer,
  putAnswer,
  putRun,
  type RollbackPoint,
  type RunEnd,
  type RunRecord,
  removeRun,
  type ThreadRecord,
} from './records.ts'

/** A change of a run's status, with the data for observers. Nothing else changes the status. */
export type RunChange =
  | EventFields<'run.queued', 'position'>
  | (EventFields<'run.started'> & { readonly rollbackPoint: RollbackPoint })
  /** Another process continues it. */
  | EventFields<'run.taken_over'>
  | ((
      | EventFields<'run.interrupted', 'status' | 'usage' | 'interruptIds'>
      | EventFields<'run.ended', 'status' | 'reason' | 'usage' | 'error'>
    ) & {
      readonly shown: ShownFailure | null
    })

/** The fields of an event that only the caller knows. */
type EventFields<Type extends RunEvent['type'], Fields extends string = never> = {
  readonly type: Type
} & Pick<
  Extract<RunEvent, { readonly type: Type }>,
  Fields & keyof Extract<RunEvent, { readonly type: Type }>
>

/** One change of a run's status: the resulting record, and the event for observers. */
export interface Transition {
  readonly run: RunRecord
  readonly event: RunEvent
  /** The store does not know the run yet. */
  readonly isNew: boolean
}

/**
 * The fields that replace the input and config of an ended run: it never runs again, and an input may be
 * megabytes. The names of its client's tools stay, because their results come later.
 */
const nothingToRun = ({ config }: RunRecord): Partial<RunRecord> => ({
  start: { kind: 'input', value: null },
  config: { configurable: clientToolNames(config.configurable) },
  rollbackPoint: null,
})

/** The common fields of all run events, with the current time. */
export function aboutRun({ owner }: ThreadRecord, run: RunRecord): AboutRun {
  const { threadId, runId, assistantId, traceparent } = run
  return { threadId, runId, assistantId, owner, at: Date.now(), traceparent }
}

export function transition(thread: ThreadRecord, before: RunRecord, change: RunChange): Transition {
  const { createdAt, startedAt } = before
  const about = aboutRun(thread, before)
  const { at } = about
  const made = (record: Partial<RunRecord>, event: RunEvent, isNew = false): Transition => ({
    run: { ...before, ...record },
    event,
    isNew,
  })
  switch (change.type) {
    case 'run.queued':
      return made({}, { ...about, ...change }, true)
    case 'run.started': {
      const { type, rollbackPoint } = change
      const record = { status: 'running', attempts: 1, startedAt: at, rollbackPoint } as const
      const waited = thread.queue.some(({ runId }) => runId === before.runId)
      return made(record, { ...about, type, waitedMs: Math.max(0, at - createdAt) }, !waited)
    }
    case 'run.taken_over': {
      const attempt = before.attempts + 1
      return made({ attempts: attempt }, { ...about, ...change, attempt })
    }
    default: {
      const { shown, ...fields } = change
      const durationMs = startedAt === null ? null : Math.max(0, at - startedAt)
      const end = { at, reason: endReasonOf(fields) }
      return made(
        {
          ...nothingToRun(before),
          status: fields.status,
          error: shown?.message ?? null,
          ...(shown && { errorName: shown.name }),
          end,
        },
        { ...about, ...fields, durationMs },
      )
    }
  }
}

type Stopped = { readonly type: 'run.interrupted' } | EventFields<'run.ended', 'reason' | 'error'>

function endReasonOf(stopped: Stopped): RunEnd['reason'] {
  if (stopped.type === 'run.interrupted') return null
  return isTimeout(stopped.error) ? 'timed_out' : stopped.reason
}

/**
 * Commits changes of runs and their tasks together with the other writes of `commit`, and then notifies
 * observers. All changes of a run's status go through here, so that observers see every recorded change and
 * nothing else. `commit` must be guarded by the thread, which was read before. Every write of a task also
 * writes its thread, so the task is current as read here, or as `known` from the time when the thread was
 * read.
 */
export async function commitTransitions<T>(
  { store, observe }: { readonly store: Store; readonly observe: (event: ServerEvent) => void },
  transitions: readonly Transition[],
  commit: (ops: readonly Op[]) => Promise<T>,
  known?: AnswerRecord,
): Promise<T> {
  const ops = transitions.map(({ run }) => (isUndone(run) ? removeRun(run) : putRun(run)))
  const committed = await commit([...ops, ...(await answerOps(store, transitions, known))])
  for (const { event } of transitions) observe(event)
  return committed
}

/** A run with details that was rolled back leaves no record, like on LangGraph's own servers. */
const isUndone = (run: RunRecord): boolean =>
  run.details !== undefined && run.cancel === 'rollback' && run.status === 'interrupted' && isEnded(run)

async function answerOps(
  store: Store,
  transitions: readonly Transition[],
  read: AnswerRecord | undefined,
): Promise<readonly Op[]> {
  const tasks = new Map<string, AnswerRecord>(read && [[read.taskId, read]])
  for (const { run, event, isNew } of transitions) {
    const { threadId, runId, task } = run
    if (!task) continue
    const { taskId } = task
    const isFirst = isNew && taskId === runId
    const known = tasks.get(taskId) ?? (isFirst ? undefined : await loadAnswer(store, threadId, taskId))
    tasks.set(taskId, answerAfter(known ?? newAnswer(event.owner, run, task), run, event))
  }
  return [...tasks.values()].filter((task) => task !== read).map(putAnswer)
}

/**
 * An answer after a status change of one of its runs. It has ended when none of its runs is active or
 * waiting.
 */
export function answerAfter(
  before: AnswerRecord,
  { runId, firstSeq, startedAt, error }: RunRecord,
  event: RunEvent,
): AnswerRecord {
  const { runIds } = before
  const updatedAt = event.at
  const open = before.openRunIds.filter((id) => id !== runId)
  if (event.type === 'run.queued') {
    const state: AnswerState = before.state === 'working' ? 'working' : 'submitted'
    const changed = state !== before.state && { state, updatedAt }
    return { ...before, ...changed, runIds: [...runIds, runId], openRunIds: [...open, runId] }
  }
  if (event.type === 'run.started') {
    const begun = runIds.filter((id) => id !== runId && !open.includes(id))
    const ids = { runIds: [...begun, runId, ...open], openRunIds: [runId, ...open] }
    return { ...before, ...ids, state: 'working', firstSeq, updatedAt }
  }
  if (event.type !== 'run.interrupted' && event.type !== 'run.ended') return before
  const others = runIds.filter((id) => id !== runId)
  const kept = startedAt === null && others.length > 0 ? others : runIds
  if (open.length > 0) return { ...before, runIds: kept, openRunIds: open }
  return { ...before, runIds: kept, openRunIds: [], state: stateAfter(event), error, updatedAt }
}

type Stop = Extract<RunEvent, { readonly type: 'run.interrupted' | 'run.ended' }>

function stateAfter(event: Stop): AnswerState {
  if (event.type === 'run.interrupted') return 'input-required'
  const { status, reason, error } = event
  if (status === 'success') return 'completed'
  if (status === 'interrupted' && reason !== 'closed') return 'canceled'
  return rejectionOf(error) ? 'rejected' : 'failed'
}

/** The end of a run that never started. */
export const dropped = (thread: ThreadRecord, run: RunRecord, reason: RunEndReason): Transition =>
  transition(thread, run, { type: 'run.ended', status: 'interrupted', reason, usage: null, shown: null })

type RootState = 'running' | 'completed' | 'failed' | 'interrupted'

/** The event for the status of a run as a whole. Only the engine may send it. */
export const rootLifecycle = (run: RunRecord, event: RootState, shown?: ShownFailure): AgentEvent => ({
  method: 'lifecycle',
  namespace: [],
  data: {
    event,
    graph_name: run.assistantId,
    run_id: run.runId,
    ...(shown && { error: shown.message, error_name: shown.name }),
  },
})
