import type { AgentEvent } from '../../agents/agent.ts'
import { rejectionOf } from '../../agents/errors.ts'
import type { Op } from '../../storage/store/store.ts'
import type { AboutRun, RunEndReason, RunEvent, ServerEvent } from '../observe.ts'
import {
  putRun,
  putTask,
  type RollbackPoint,
  type RunRecord,
  type TaskLink,
  type TaskRecord,
  type TaskState,
  type ThreadRecord,
} from './records.ts'

/** How the status of a run changes, with what observers are told of it. Nothing else changes it. */
export type RunChange =
  | Told<'run.queued', 'position'>
  | (Told<'run.started'> & { readonly rollbackPoint: RollbackPoint })
  /** Another process goes on with it. */
  | Told<'run.taken_over'>
  | ((
      | Told<'run.interrupted', 'status' | 'usage' | 'interruptIds'>
      | Told<'run.ended', 'status' | 'reason' | 'usage' | 'error'>
    ) & {
      /** What clients are shown of a failure. */
      readonly message: string | null
    })

/** The fields of an event that only the caller knows. */
type Told<Type extends RunEvent['type'], Fields extends string = never> = { readonly type: Type } & Pick<
  Extract<RunEvent, { readonly type: Type }>,
  Fields & keyof Extract<RunEvent, { readonly type: Type }>
>

/** One change of a run's status: the record it leaves, the ops that write it and its task, and what observers are told of it. */
export interface Transition {
  readonly run: RunRecord
  readonly ops: readonly Op[]
  readonly event: RunEvent
}

/** What the record of an ended run has in place of what it ran with: nobody runs it again, and an input may be megabytes. */
const NOTHING_TO_RUN = {
  start: { kind: 'input', value: null },
  config: { configurable: {} },
  rollbackPoint: null,
} as const satisfies Partial<RunRecord>

/** What every event of a run tells, now. */
export function aboutRun({ owner }: ThreadRecord, run: RunRecord): AboutRun {
  const { threadId, runId, assistantId, traceparent } = run
  return { threadId, runId, assistantId, owner, at: Date.now(), traceparent }
}

export function transition(thread: ThreadRecord, before: RunRecord, change: RunChange): Transition {
  const { createdAt, startedAt } = before
  const about = aboutRun(thread, before)
  const { at } = about
  const made = (record: Partial<RunRecord>, event: RunEvent): Transition => {
    const run = { ...before, ...record }
    const task = run.task ? [putTask(taskAfter(thread, run, run.task, event))] : []
    return { run, ops: [putRun(run), ...task], event }
  }
  switch (change.type) {
    case 'run.queued':
      return made({}, { ...about, ...change })
    case 'run.started': {
      const { type, rollbackPoint } = change
      const record = { status: 'running', attempts: 1, startedAt: at, rollbackPoint } as const
      return made(record, { ...about, type, waitedMs: Math.max(0, at - createdAt) })
    }
    case 'run.taken_over': {
      const attempt = before.attempts + 1
      return made({ attempts: attempt }, { ...about, ...change, attempt })
    }
    default: {
      const { message, ...told } = change
      const durationMs = startedAt === null ? null : Math.max(0, at - startedAt)
      return made(
        { ...NOTHING_TO_RUN, status: told.status, error: message },
        { ...about, ...told, durationMs },
      )
    }
  }
}

/** The task of a run whose status changes. It goes on while another of its runs does, or waits with a message. */
function taskAfter(thread: ThreadRecord, run: RunRecord, link: TaskLink, event: RunEvent): TaskRecord {
  const { runId, threadId, assistantId, error } = run
  const waiting = thread.queue.filter(({ taskId }) => taskId === link.taskId).map((queued) => queued.runId)
  const runIds = [...new Set([...link.runIds, ...waiting])]
  const after = stateAfter(event)
  const goesOn = [...waiting, thread.activeRunId].some(
    (other) => other !== null && other !== runId && runIds.includes(other),
  )
  return {
    ...link,
    runIds,
    threadId,
    assistantId,
    owner: thread.owner,
    state: goesOn ? 'working' : after,
    firstSeq: run.firstSeq ?? link.firstSeq,
    error,
    updatedAt: event.at,
  }
}

function stateAfter(event: RunEvent): TaskState {
  switch (event.type) {
    case 'run.queued':
      return 'submitted'
    case 'run.interrupted':
      return 'input-required'
    case 'run.ended':
      return endOf(event)
    default:
      return 'working'
  }
}

function endOf({ status, reason, error }: Extract<RunEvent, { readonly type: 'run.ended' }>): TaskState {
  if (status === 'success') return 'completed'
  if (status === 'interrupted' && reason !== 'closed') return 'canceled'
  return rejectionOf(error) ? 'rejected' : 'failed'
}

/**
 * Commits changes of runs together with the other writes of `commit`, and then tells observers. All changes of a run's status
 * go through here, so that observers are told of every recorded change and of nothing else.
 */
export async function commitTransitions<T>(
  observe: (event: ServerEvent) => void,
  transitions: readonly Transition[],
  commit: (ops: readonly Op[]) => Promise<T>,
): Promise<T> {
  const committed = await commit(transitions.flatMap(({ ops }) => ops))
  for (const { event } of transitions) observe(event)
  return committed
}

/** The end of a run that never started. */
export const dropped = (thread: ThreadRecord, run: RunRecord, reason: RunEndReason): Transition =>
  transition(thread, run, { type: 'run.ended', status: 'interrupted', reason, usage: null, message: null })

type RootState = 'running' | 'completed' | 'failed' | 'interrupted'

/** The event for the status of a run as a whole. Only the engine may send it. */
export const rootLifecycle = (run: RunRecord, event: RootState, error?: string): AgentEvent => ({
  method: 'lifecycle',
  namespace: [],
  data: { event, graph_name: run.assistantId, run_id: run.runId, ...(error !== undefined && { error }) },
})
