import { checkOptions, type OptionTable } from '../../core/options.ts'
import { defined, filterFields, isRecord } from '../../messages/record.ts'
import type { Format } from '../formats/index.ts'
import {
  CONVERT_OPTIONS,
  type ConvertOptions,
  type ModelCallRecord,
  type Outcome,
  type RunEvent,
  readOutcome,
  toRecord,
} from './convert/convert.ts'
import { textOfError } from './errors.ts'
import { createDelivery, DELIVERY_OPTIONS, type Delivery, type DeliveryOptions } from './sinks/delivery.ts'
import { positionUnder, type RunType, type TracedRun, type TracePosition } from './traced-run.ts'

export interface RunOptions extends ConvertOptions {
  readonly name: string
  /** Default `llm`, a model call. Runs of other types have `inputs` instead of `request`. */
  readonly type?: RunType | undefined
  /** The inputs of a run that is not a model call, as the platform shows them. */
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  readonly tags?: readonly string[] | undefined
  /** A UUID. Default: a new version 7 UUID, which sorts by time. */
  readonly id?: string | undefined
}

const RUN_OPTIONS: OptionTable<Omit<RunOptions, keyof ConvertOptions>> = {
  name: ['required', 'string'],
  type: 'string',
  inputs: 'object',
  tags: 'list',
  id: 'string',
}

export interface StartOptions extends RunOptions, DeliveryOptions {}

/** An active run. It ends once: later calls change nothing and return the record of the first end. */
export interface Run {
  readonly id: string
  readonly traceId: string
  readonly dottedOrder: string
  readonly parentRunId: string | undefined
  /** The format from the options. */
  readonly format: Format | string | undefined
  /** Adds an event with the current time. Only the first `new_token` counts: the time to first token. */
  addEvent(name: string, kwargs?: Readonly<Record<string, unknown>>): void
  /** Ends a model call with the provider's response, or another run with its outputs. */
  end(response?: unknown): ModelCallRecord
  /** Ends the run with an error. `response` is what had arrived before. */
  fail(error: unknown, response?: unknown): ModelCallRecord
  /** Ends the run with messages in the normal form, for callers that read the response themselves. */
  finish(outcome: Outcome): ModelCallRecord
  /** Starts a child run with the same sinks, delivery options and thread. */
  child(options: RunOptions): Run
  /** Resolves when all sinks have responded for this run. Never rejects. */
  delivered(): Promise<void>
}

/**
 * Starts a run and sends it to the sinks. Ids are version 7 UUIDs, and `dotted_order` is the run's position
 * in the trace.
 *
 * ```ts
 * const run = startLlmRun({ name: 'answer', request, sinks: [langsmithSink()] })
 * run.end(await openai.chat.completions.create(request))
 * ```
 *
 * Throws `TracingError` for an unknown format or target name. A sink never makes the caller throw or wait.
 */
export function startLlmRun(options: StartOptions): Run {
  checkOptions('startLlmRun', options, CONVERT_OPTIONS, DELIVERY_OPTIONS, RUN_OPTIONS)
  return startRun(options, options, undefined, undefined)
}

function startRun(
  options: RunOptions,
  delivering: DeliveryOptions,
  parent: TracePosition | undefined,
  above: Delivery | undefined,
): Run {
  const { name, type = 'llm', tags } = options
  const position = positionUnder(parent, options.id)
  const { id, traceId, dottedOrder, parentRunId, startTime } = position
  const delivery = createDelivery(delivering, above)
  const events: RunEvent[] = []
  let final: ModelCallRecord | undefined

  const about = {
    id,
    name,
    run_type: type,
    start_time: startTime,
    trace_id: traceId,
    dotted_order: dottedOrder,
    ...defined({ tags, parent_run_id: parentRunId }),
  } satisfies Partial<TracedRun>

  function finish(outcome: Outcome): ModelCallRecord {
    if (final) return final
    final = recordOf(options, outcome, events)
    const { inputs, outputs, metadata, error } = final
    const end = { end_time: new Date().toISOString(), inputs, outputs, extra: { metadata }, events }
    delivery.send('update', { ...about, ...end, ...defined({ error }) })
    return final
  }

  const { inputs, metadata } = recordOf(options, { messages: [] }, events)
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
    end: (response) => finish(outcomeOf(options, response)),
    fail: (error, response) => finish({ ...outcomeOf(options, response), error: textOfError(error) }),
    finish,
    child: (inner) => {
      const metadata = { ...threadOf(options.metadata), ...inner.metadata }
      return startRun({ ...inner, metadata }, delivering, position, delivery)
    },
    async delivered() {
      await Promise.all((delivering.sinks ?? []).map((_, at) => delivery.after(at)))
    },
  }
}

const isModelCall = ({ type = 'llm' }: RunOptions): boolean => type === 'llm'

const outcomeOf = (options: RunOptions, response: unknown): Outcome =>
  isModelCall(options) ? readOutcome(response, options) : { messages: [], response }

const recordOf = (options: RunOptions, outcome: Outcome, events: RunEvent[]): ModelCallRecord =>
  isModelCall(options)
    ? toRecord(options, outcome, events)
    : {
        inputs: options.inputs ?? {},
        outputs: outputsOf(outcome.response),
        metadata: { ...options.metadata },
        events,
        ...defined({ error: outcome.error }),
      }

const THREAD = ['session_id', 'thread_id', 'conversation_id']

/** The metadata that names the thread. Every run needs it, because the platform adds up tokens by thread. */
const threadOf = (metadata: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  filterFields(metadata, (key) => THREAD.includes(key))

function outputsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined) return {}
  return isRecord(value) ? value : { output: value }
}
