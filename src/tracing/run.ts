import type { Format } from '../formats/index.ts'
import { isRecord } from '../messages/record.ts'
import {
  type ConvertOptions,
  type ModelCallRecord,
  type Outcome,
  type RunEvent,
  readOutcome,
  toRecord,
} from './convert/convert.ts'
import { textOfError } from './errors.ts'
import { createDelivery, type Delivery, type DeliveryOptions } from './sinks/delivery.ts'
import { type Place, placeUnder, type RunType, type TracedRun } from './traced-run.ts'

export interface RunOptions extends ConvertOptions {
  readonly name: string
  /** Default `llm`: a call of a model. Others have `inputs` instead of `request`. */
  readonly type?: RunType | undefined
  /** Inputs of a run that is no model call, as they are to be shown. */
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  readonly tags?: readonly string[] | undefined
  /** A UUID; version 7 sorts. Default: a new one. */
  readonly id?: string | undefined
}

export interface StartOptions extends RunOptions, DeliveryOptions {}

/** A run that goes on. It ends once: what comes after the end changes nothing, and gives the record of the end. */
export interface Run {
  readonly id: string
  readonly traceId: string
  readonly dottedOrder: string
  readonly parentRunId: string | undefined
  /** The format that the run was started with. */
  readonly format: Format | string | undefined
  /** Notes that something happened, now. The first `new_token` counts, and makes the time to first token. */
  addEvent(name: string, kwargs?: Readonly<Record<string, unknown>>): void
  /** The model has answered: `response` as the provider sent it. Of other runs: their outputs. */
  end(response?: unknown): ModelCallRecord
  /** It failed; `response` is what had come by then. */
  fail(error: unknown, response?: unknown): ModelCallRecord
  /** Ends with messages in the normal form: for what reads a response itself. */
  finish(outcome: Outcome): ModelCallRecord
  /** A run within this one, with its sinks and rules, in the same thread. */
  child(options: RunOptions): Run
  /** Settles when the sinks have answered for this run. Never rejects. */
  delivered(): Promise<void>
}

/**
 * Starts a run and tells the sinks. Ids are version 7 UUIDs, and `dotted_order` places the run in its trace.
 *
 * ```ts
 * const run = startLlmRun({ name: 'answer', request, sinks: [langsmithSink()] })
 * run.end(await openai.chat.completions.create(request))
 * ```
 *
 * Throws `TracingError` for a format or target that does not exist. No sink can make it, or a function of the run, throw or wait.
 */
export function startLlmRun(options: StartOptions): Run {
  return startRun(options, options, undefined, undefined)
}

function startRun(
  options: RunOptions,
  delivering: DeliveryOptions,
  parent: Place | undefined,
  above: Delivery | undefined,
): Run {
  const { name, type = 'llm', tags } = options
  const place = placeUnder(parent, options.id)
  const { id, traceId, dottedOrder, parentRunId, startTime } = place
  const delivery = createDelivery(delivering, above)
  const events: RunEvent[] = []
  let final: ModelCallRecord | undefined

  const about = {
    id,
    name,
    run_type: type,
    start_time: startTime,
    ...(tags && { tags }),
    trace_id: traceId,
    dotted_order: dottedOrder,
    ...(parentRunId !== undefined && { parent_run_id: parentRunId }),
  } satisfies Partial<TracedRun>

  const recordOf = (outcome: Outcome): ModelCallRecord =>
    type === 'llm'
      ? toRecord(options, outcome, events)
      : {
          inputs: options.inputs ?? {},
          outputs: outputsOf(outcome.response),
          metadata: { ...options.metadata },
          events,
          ...(outcome.error !== undefined && { error: outcome.error }),
        }

  function finish(outcome: Outcome): ModelCallRecord {
    if (final) return final
    final = recordOf(outcome)
    const { inputs, outputs, metadata, error } = final
    const end = { end_time: new Date().toISOString(), inputs, outputs, extra: { metadata }, events }
    delivery.send('update', { ...about, ...end, ...(error !== undefined && { error }) })
    return final
  }

  function outcomeOf(response: unknown): Outcome {
    return type === 'llm' ? readOutcome(response, options) : { messages: [], response }
  }

  const { inputs, metadata } = recordOf({ messages: [] })
  delivery.send('create', { ...about, inputs, extra: { metadata }, events: [] })

  return {
    id,
    traceId,
    dottedOrder,
    parentRunId,
    format: options.format,
    addEvent(event, kwargs) {
      if (final || (event === 'new_token' && events.some((one) => one.name === event))) return
      events.push({ name: event, time: new Date().toISOString(), ...(kwargs && { kwargs }) })
    },
    end: (response) => finish(outcomeOf(response)),
    fail: (error, response) => finish({ ...outcomeOf(response), error: textOfError(error) }),
    finish,
    child: (inner) => {
      const metadata = { ...threadOf(options.metadata), ...inner.metadata }
      return startRun({ ...inner, metadata }, delivering, place, delivery)
    },
    async delivered() {
      await Promise.all((delivering.sinks ?? []).map((_, at) => delivery.after(at)))
    },
  }
}

const THREAD = ['session_id', 'thread_id', 'conversation_id']

/** What names a thread has to be on every run of it: counts are summed up by that. */
function threadOf(metadata: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => THREAD.includes(key)))
}

function outputsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined) return {}
  return isRecord(value) ? value : { output: value }
}
