import { diag, type Meter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { checkOptions, type OptionTable } from '../options.ts'
import type { ServerEvent } from '../runs/index.ts'
import { createServerMetrics, type MeasuredEngine, type ServerMetrics } from './metrics.ts'
import { createRunSpans } from './spans.ts'

export type { MeasuredEngine } from './metrics.ts'

export interface OpenTelemetryOptions {
  /** Makes the spans. Default: `agentwire` of the global tracer provider. */
  readonly tracer?: Tracer | undefined
  /** Makes the instruments. Default: `agentwire` of the global meter provider, as it is when the first event comes. */
  readonly meter?: Meter | undefined
}

const OPTIONS: OptionTable<OpenTelemetryOptions> = { tracer: 'object', meter: 'object' }

/** What turns the events of a server into spans and metrics. */
export interface OpenTelemetry {
  /** For the `observe` option of a server or an engine. Never throws: errors go to the `diag` logger of OpenTelemetry. */
  readonly observe: (event: ServerEvent) => void
  /**
   * Registers the gauges of an engine: runs that execute and wait, subscribers and their lag. They are read when metrics are
   * collected, by `engine.measure()`. Returns the function that stops them.
   */
  readonly watch: (engine: MeasuredEngine) => () => void
}

const NAME = 'agentwire'

/**
 * Turns what a server's `observe` tells into OpenTelemetry: a run is a span, the model calls of `model()` are its children, the
 * `traceparent` of the request that started it is its parent. Names follow the semantic conventions for generative AI. All spans
 * and metrics are listed in docs/operating.md.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  checkOptions('openTelemetry', options, OPTIONS)
  const { tracer, meter } = options
  const recordSpans = createRunSpans(tracer ?? trace.getTracer(NAME))
  let opened: ServerMetrics | undefined
  // Unlike the global tracer, the global meter does not follow a provider that is registered after it was asked for.
  const openMetrics = () => (opened ??= createServerMetrics(meter ?? metrics.getMeter(NAME)))
  return {
    observe(event) {
      guard(() => recordSpans(event))
      guard(() => openMetrics().record(event))
    },
    watch: (engine) => openMetrics().watch(engine),
  }
}

/** Exporters and processors of others must neither break a run nor each other. */
function guard(record: () => void): void {
  try {
    record()
  } catch (error) {
    diag.error('agentwire: an event could not be recorded', error)
  }
}
