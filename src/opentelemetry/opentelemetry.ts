import { diag, type Meter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { checkOptions, type OptionTable } from '../options.ts'
import type { ServerEvent } from '../runs/index.ts'
import { createServerMetrics, type MeasuredEngine, type ServerMetrics } from './metrics.ts'
import { createRunSpans } from './spans.ts'

export type { MeasuredEngine } from './metrics.ts'

export interface OpenTelemetryOptions {
  /** Makes the spans. Default: `agentwire` of the global tracer provider. */
  readonly tracer?: Tracer | undefined
  /** Makes the instruments. Default: `agentwire` of the global meter provider at the first event. */
  readonly meter?: Meter | undefined
}

const OPTIONS: OptionTable<OpenTelemetryOptions> = { tracer: 'object', meter: 'object' }

/** What turns the events of a server into spans and metrics. */
export interface OpenTelemetry {
  /** For the `observe` option of a server or an engine. Errors go to OpenTelemetry's `diag` logger. */
  readonly observe: (event: ServerEvent) => void
  /**
   * Registers the gauges of an engine: runs that execute and wait, subscribers and their lag. They call
   * `engine.measure()` when metrics are collected. Returns the function that stops them.
   */
  readonly watch: (engine: MeasuredEngine) => () => void
}

const NAME = 'agentwire'

/**
 * Turns the events of a server's `observe` into OpenTelemetry: a run is a span, the model calls of `model()` are
 * its children, the `traceparent` of the request that started it is its parent. Names follow the semantic
 * conventions for generative AI; docs/operating.md lists them.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  checkOptions('openTelemetry', options, OPTIONS)
  const { tracer, meter } = options
  const recordSpans = createRunSpans(tracer ?? trace.getTracer(NAME))
  let opened: ServerMetrics | undefined
  // Unlike a global tracer, a global meter does not follow a provider that is registered later.
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
