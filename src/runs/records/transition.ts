import type { AgentEvent } from '../../agents/agent.ts'
import type { Op } from '../../storage/store/store.ts'
import type { RunEndReason, RunEvent, RunUsage, ServerEvent } from '../observe.ts'
import { putRun, type RollbackPoint, type RunRecord, type ThreadRecord } from './records.ts'

/** How the status of a run changes. Nothing else changes it. */
export type RunChange =
  | { readonly to: 'queued'; readonly position: number }
  | { readonly to: 'running'; readonly rollbackPoint: RollbackPoint }
  /** Another process continues it. */
  | { readonly to: 'taken over' }
  | {
      readonly to: 'ended'
      readonly status: 'success' | 'error' | 'interrupted'
      /** `interrupted` where the run waits for answers. */
      readonly reason: RunEndReason | 'interrupted'
      /** The failure as clients see it. */
      readonly error?: string | null
      readonly cause?: unknown
      readonly usage?: RunUsage | null
      readonly interruptIds?: readonly string[]
    }

/** One change of a run's status: the record it leaves, the op that writes it, and the event for observers. */
export interface Transition {
  readonly run: RunRecord
  readonly op: Op
  readonly event: RunEvent
}

export function transition(thread: ThreadRecord, before: RunRecord, change: RunChange): Transition {
  const at = Date.now()
  const run = changed(before, change, at)
  const { threadId, runId, assistantId, traceparent } = run
  const about = { threadId, runId, assistantId, owner: thread.owner, at, traceparent }
  return { run, op: putRun(run), event: eventOf(about, run, change) }
}

/**
 * Commits status changes of runs together with what else `commit` writes, then notifies observers. Every status change goes
 * through here, so that observers see exactly the changes that were recorded.
 */
export async function commitTransitions<T>(
  observe: (event: ServerEvent) => void,
  transitions: readonly Transition[],
  commit: (ops: readonly Op[]) => Promise<T>,
): Promise<T> {
  const committed = await commit(transitions.map(({ op }) => op))
  for (const { event } of transitions) observe(event)
  return committed
}

function changed(run: RunRecord, change: RunChange, at: number): RunRecord {
  switch (change.to) {
    case 'queued':
      return { ...run, status: 'pending' }
    case 'running':
      return { ...run, status: 'running', attempts: 1, startedAt: at, rollbackPoint: change.rollbackPoint }
    case 'taken over':
      return { ...run, attempts: run.attempts + 1 }
    case 'ended':
      return { ...run, status: change.status, error: change.error ?? null }
  }
}

type About = Pick<RunEvent, 'threadId' | 'runId' | 'assistantId' | 'owner' | 'at' | 'traceparent'>

function eventOf(about: About, run: RunRecord, change: RunChange): RunEvent {
  switch (change.to) {
    case 'queued':
      return { ...about, type: 'run.queued', position: change.position }
    case 'running':
      return { ...about, type: 'run.started', waitedMs: Math.max(0, about.at - run.createdAt) }
    case 'taken over':
      return { ...about, type: 'run.taken_over', attempt: run.attempts }
    case 'ended': {
      const { status, reason, usage = null, interruptIds = [], cause } = change
      const durationMs = run.startedAt === null ? null : Math.max(0, about.at - run.startedAt)
      if (reason === 'interrupted')
        return { ...about, type: 'run.interrupted', status, durationMs, usage, interruptIds }
      const error = cause === undefined ? {} : { error: cause }
      return { ...about, type: 'run.ended', status, reason, durationMs, usage, ...error }
    }
  }
}

type RootState = 'running' | 'completed' | 'failed' | 'interrupted'

/** The event for the status of a run as a whole. Only the engine may send it. */
export const rootLifecycle = (run: RunRecord, event: RootState, error?: string): AgentEvent => ({
  method: 'lifecycle',
  namespace: [],
  data: { event, graph_name: run.assistantId, run_id: run.runId, ...(error !== undefined && { error }) },
})
