import type { RunRecord } from '../../../engine/index.ts'
import type { RunStatusWire } from './wire.ts'

/** The details that the engine stores with a run for this face. */
export interface RunDetails {
  /** A UUID. */
  readonly assistant_id: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** The run's request, for clients that show it. */
  readonly kwargs: Readonly<Record<string, unknown>>
}

/** The details of a run. A run that no REST client created has none. */
export const detailsOf = ({ details, assistantId, config }: RunRecord): RunDetails => {
  const kept = details as RunDetails | undefined
  return kept?.kwargs ? kept : { assistant_id: assistantId, metadata: config.metadata ?? {}, kwargs: {} }
}

/** A run that stopped at an interrupt is a `success`; a cancelled run is `interrupted`. */
export function statusOf({ status, end }: RunRecord): RunStatusWire {
  if (end?.reason === 'timed_out') return 'timeout'
  return status === 'interrupted' && end?.reason === null ? 'success' : status
}

/** A run as the SDK's `Run`. */
export function presentRun(run: RunRecord) {
  const { assistant_id, metadata, kwargs } = detailsOf(run)
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    assistant_id,
    created_at: new Date(run.createdAt).toISOString(),
    updated_at: new Date(run.end?.at ?? run.startedAt ?? run.createdAt).toISOString(),
    status: statusOf(run),
    metadata,
    kwargs,
    multitask_strategy: run.multitaskStrategy,
  }
}
