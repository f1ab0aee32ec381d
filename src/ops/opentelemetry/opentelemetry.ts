import {
  type Attributes,
  type BatchObservableResult,
  diag,
  type Meter,
  metrics,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ModelCall } from '../../agents/agent.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { EngineMeasures, ServerEvent } from '../../engine/index.ts'
import {
  createRunSpans,
  endingAttributes,
  modelCallAttributes,
  type RunEndEvent,
  runErrorTypeOf,
  secondsBetween,
} from './spans.ts'

export interface OpenTelemetryOptions {
  /** Creates the spans. Default: the tracer `agentwire` of the global tracer provider. */
  readonly tracer?: Tracer | undefined
  /**
   * Creates the instruments. Default: the meter `agentwire` of the global meter provider, at the first event.
   */
  readonly meter?: Meter | undefined
}

const OPTIONS: OptionTable<OpenTelemetryOptions> = { tracer: 'object', meter: 'object' }

/** Turns a server's events into spans and metrics. */
export interface OpenTelemetry {
  /** For the `observe` option of a server or an engine. Errors go to OpenTelemetry's `diag` logger. */
  readonly observe: (event: ServerEvent) => void
  /**
   * Registers gauges for an engine: active and queued runs, subscribers and their lag. They call
   * `engine.measure()` when metrics are collected. Returns a function that unregisters them.
   */
  readonly watch: (engine: MeasuredEngine) => () => void
}

const NAME = 'agentwire'

/**
 * Turns the events of a server's `observe` option into OpenTelemetry spans and metrics. A run is a span. Its
 * model calls by `model()` are child spans. The `traceparent` of the request that started the run is its
 * parent. Names follow the semantic conventions for generative AI; docs/operating.md lists them.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  checkOptions('openTelemetry', options, OPTIONS)
  const { tracer, meter } = options
  const recordSpans = createRunSpans(tracer ?? trace.getTracer(NAME))
  let opened: ReturnType<typeof createServerMetrics> | undefined
  // Unlike a global tracer, a global meter does not switch to a provider that is registered later.
  const openMetrics = () => (opened ??= createServerMetrics(meter ?? metrics.getMeter(NAME)))
  return {
    observe(event) {
      guard(() => recordSpans(event))
      guard(() => openMetrics().record(event))
    },
    watch: (engine) => openMetrics().watch(engine),
  }
}

/** An error in an exporter or processor must not break a run or another exporter. */
function guard(record: () => void): void {
  try {
    record()
  } catch (error) {
    diag.error('agentwire: an event could not be recorded', error)
  }
}

/** The engine that the gauges measure. */
export interface MeasuredEngine {
  measure(): Promise<EngineMeasures>
}

/** In seconds. Runs take from milliseconds to an hour. */
const RUN_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]
/** From the semantic conventions. */
const CALL_SECONDS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i)

function createServerMetrics(meter: Meter) {
  const metrics = metricsOf(meter)
  const gauges = gaugesOf(meter)
  return {
    record: (event: ServerEvent): void => record(metrics, event),
    watch(engine: MeasuredEngine): () => void {
      const observe = async (result: BatchObservableResult): Promise<void> => {
        // If the store is unavailable, the gauge has a gap instead of its last value.
        const measures = await engine.measure().catch(() => undefined)
        if (!measures) return
        for (const key of KEYS) result.observe(gauges[key], measures[key])
      }
      meter.addBatchObservableCallback(observe, Object.values(gauges))
      return () => meter.removeBatchObservableCallback(observe, Object.values(gauges))
    },
  }
}

const KEYS = ['running', 'queued', 'subscribers', 'lag'] as const

type Metrics = ReturnType<typeof metricsOf>

/** The metrics of a server. No attribute is an id, because backends keep a series for each value. */
function metricsOf(meter: Meter) {
  const histogram = (name: string, description: string, buckets = RUN_SECONDS) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: buckets } })
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(name, { unit, description })
  const call = 'gen_ai.client.inference'
  const toContent = 'From the start of a model call to its first content.'
  return {
    runs: counter('agentwire.runs', '{run}', 'Runs that came to an end or wait for answers.'),
    takenOver: counter('agentwire.runs.taken_over', '{run}', 'Runs taken over from a lost process.'),
    runTime: histogram('agentwire.run.duration', 'From the start to the end of a run.'),
    waitTime: histogram('agentwire.run.wait_time', 'From the request to the start.'),
    agentTime: histogram('gen_ai.invoke_agent.duration', 'Duration of runs.'),
    callTime: histogram(`${call}.duration`, 'Duration of model calls.', CALL_SECONDS),
    firstChunkTime: histogram(`${call}.time_to_first_chunk`, toContent, CALL_SECONDS),
    inputTokens: counter(`${call}.usage.input_tokens`, '{token}', 'Input tokens of model calls.'),
    outputTokens: counter(`${call}.usage.output_tokens`, '{token}', 'Output tokens of model calls.'),
    refused: counter('agentwire.requests.refused', '{request}', 'Requests answered with an error.'),
    deleted: counter('agentwire.threads.deleted', '{thread}', 'Threads deleted.'),
    undelivered: counter('agentwire.deliveries.failed', '{delivery}', 'Webhooks and pushes given up.'),
    away: meter.createUpDownCounter('agentwire.store.unavailable', {
      unit: '{process}',
      description: 'Processes whose store does not answer.',
    }),
    awayTime: histogram('agentwire.store.unavailable.duration', 'Time the store was away.'),
  }
}

function gaugesOf(meter: Meter) {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description })
  return {
    running: gauge('agentwire.runs.running', '{run}', 'Runs that execute in this process.'),
    queued: gauge('agentwire.runs.queued', '{run}', 'Runs that wait, in all processes of the store.'),
    subscribers: gauge('agentwire.subscribers', '{subscriber}', 'Subscribers of this process.'),
    lag: gauge('agentwire.subscribers.lag', '{event}', 'Events that the slowest subscriber is behind.'),
  }
}

function record(metrics: Metrics, event: ServerEvent) {
  switch (event.type) {
    case 'run.started':
      return metrics.waitTime.record(event.waitedMs / 1000, { 'gen_ai.agent.name': event.assistantId })
    case 'run.taken_over':
      return metrics.takenOver.add(1, { 'gen_ai.agent.name': event.assistantId })
    case 'run.model_called':
      return recordCall(metrics, event.call)
    case 'run.interrupted':
    case 'run.ended':
      return recordEnd(metrics, event)
    case 'request.refused':
      return metrics.refused.add(1, {
        'http.response.status_code': event.status,
        'error.type': event.code,
        ...(event.route !== undefined && { 'http.route': event.route }),
      })
    case 'delivery.failed':
      return metrics.undelivered.add(1, { 'agentwire.delivery.kind': event.kind })
    case 'thread.deleted':
      return metrics.deleted.add(1)
    case 'store.unavailable':
      return metrics.away.add(1)
    case 'store.recovered':
      metrics.away.add(-1)
      return metrics.awayTime.record(event.awayMs / 1000)
  }
}

function recordEnd({ runs, runTime, agentTime }: Metrics, event: RunEndEvent): void {
  const attributes = { 'gen_ai.agent.name': event.assistantId, ...endingAttributes(event) }
  runs.add(1, attributes)
  if (event.durationMs === null) return
  runTime.record(event.durationMs / 1000, attributes)
  agentTime.record(event.durationMs / 1000, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': event.assistantId,
    ...(event.type === 'run.ended' && event.status === 'error' && { 'error.type': runErrorTypeOf(event) }),
  })
}

function recordCall({ callTime, firstChunkTime, inputTokens, outputTokens }: Metrics, call: ModelCall): void {
  const attributes = modelCallAttributes(call)
  callTime.record(secondsBetween(call.startedAt, call.endedAt), attributes)
  if (call.firstTokenAt !== null)
    firstChunkTime.record(secondsBetween(call.startedAt, call.firstTokenAt), attributes)
  if (!call.usage) return
  inputTokens.add(call.usage.inputTokens, withoutError(attributes))
  outputTokens.add(call.usage.outputTokens, withoutError(attributes))
}

const withoutError = ({ 'error.type': _, ...attributes }: Attributes): Attributes => attributes
