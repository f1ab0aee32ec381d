import { uuid7 } from '../../core/ids.ts'
import type { RunEvent } from './convert/convert.ts'

export type RunType = 'llm' | 'chain' | 'tool' | 'retriever' | 'embedding' | 'prompt' | 'parser'

/** A run in the platform's wire format: plain JSON. */
export interface TracedRun {
  readonly id: string
  readonly name: string
  readonly run_type: RunType
  /** RFC 3339, like `end_time`. */
  readonly start_time: string
  /** Absent while the run is active. */
  readonly end_time?: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly outputs?: Readonly<Record<string, unknown>>
  readonly error?: string
  readonly events: readonly RunEvent[]
  readonly tags?: readonly string[]
  readonly extra: { readonly metadata: Readonly<Record<string, unknown>> }
  readonly trace_id: string
  /** The parent's position, a dot, the start as `YYYYMMDDTHHMMSSffffffZ`, and the id. Sorts by start. */
  readonly dotted_order: string
  readonly parent_run_id?: string
}

/** The position of a run in its trace. */
export interface TracePosition {
  readonly id: string
  readonly traceId: string
  readonly dottedOrder: string
  readonly parentRunId: string | undefined
  readonly startTime: string
}

let latest = 0

/** Makes a position beneath `parent`. Runs that start in the same millisecond keep their order. */
export function positionUnder(parent: TracePosition | undefined, given: string | undefined): TracePosition {
  const now = Date.now()
  // `latest` is in microseconds. The clock has milliseconds; the last three digits count the starts within
  // one.
  latest = Math.max(now * 1000, latest + 1)
  if (latest >= now * 1000 + 1000) latest = now * 1000
  const id = given ?? uuid7(now)
  const startTime = new Date(now).toISOString()
  const micros = String(latest - now * 1000).padStart(3, '0')
  const stamp = `${startTime.slice(0, -1).replace(/[-:.]/g, '')}${micros}Z${id}`
  return {
    id,
    traceId: parent?.traceId ?? id,
    dottedOrder: parent ? `${parent.dottedOrder}.${stamp}` : stamp,
    parentRunId: parent?.id,
    startTime,
  }
}
