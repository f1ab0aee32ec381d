import { diag, type Meter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { ServerEvent } from '../../engine/index.ts'
import { createServerMetrics, type MeasuredEngine, type ServerMetrics } from './metrics.ts'
import { createRunSpans } from './spans.ts'

export type { MeasuredEngine } from './metrics.ts'

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
  let opened: ServerMetrics | undefined
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
