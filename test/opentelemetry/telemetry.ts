import type { Meter, Tracer } from '@opentelemetry/api'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished } from 'vitest'
import { serve } from '../../adapters/node.ts'
import {
  type AgentServer,
  createAgentServer,
  type OwnEngineOptions,
  type ServerEvent,
} from '../../src/index.ts'
import { type OpenTelemetry, openTelemetry } from '../../src/ops/opentelemetry/opentelemetry.ts'

/** A reader that collects when it is asked, and at no other time. */
export class ManualReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
  override selectAggregationTemporality(): AggregationTemporality {
    return AggregationTemporality.CUMULATIVE
  }
}

export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>
  /** A number, or what a histogram holds. */
  readonly value: unknown
}

/** Telemetry over the real SDK, as a process has it, and what came of it. */
export interface Recorder {
  readonly telemetry: OpenTelemetry
  readonly tracer: Tracer
  readonly meter: Meter
  /** For the `observe` option. */
  readonly observe: (event: ServerEvent) => void
  /** Settles when so many events of a type have come. */
  seen(type: ServerEvent['type'], count?: number): Promise<void>
  /** The ended spans of a name. */
  spans(name?: string): ReadableSpan[]
  /** The points of every metric, by its name. */
  collect(): Promise<ReadonlyMap<string, readonly Point[]>>
}

export function recorder(): Recorder {
  const exporter = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const reader = new ManualReader()
  const meters = new MeterProvider({ readers: [reader] })
  onTestFinished(async () => {
    await Promise.all([tracers.shutdown(), meters.shutdown()])
  })
  const [tracer, meter] = [tracers.getTracer('test'), meters.getMeter('test')]
  const telemetry = openTelemetry({ tracer, meter })
  const events: ServerEvent[] = []
  let changed = () => {}
  return {
    telemetry,
    tracer,
    meter,
    observe(event) {
      telemetry.observe(event)
      events.push(event)
      changed()
    },
    async seen(type, count = 1) {
      while (events.filter((event) => event.type === type).length < count) {
        await new Promise<void>((resolve) => {
          changed = resolve
        })
      }
    },
    spans: (name) => exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name),
    async collect() {
      const { resourceMetrics, errors } = await reader.collect()
      expect(errors).toEqual([])
      return new Map(
        resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
          metrics.map(({ descriptor, dataPoints }) => [
            descriptor.name,
            dataPoints.map(({ attributes, value }) => ({ attributes, value })),
          ]),
        ),
      )
    },
  }
}

/** A server behind a real socket, and a client of its commands. */
export async function serveObserved(options: OwnEngineOptions): Promise<{
  readonly server: AgentServer
  readonly origin: string
  /** The answer to a command. */
  command(
    threadId: string,
    method: string,
    params: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>>
}> {
  const server = createAgentServer({ authenticate: () => ({ id: 'owner-1' }), ...options })
  const { origin, close } = await serve(server, { port: 0, silent: true })
  onTestFinished(close)
  return {
    server,
    origin,
    async command(threadId, method, params, headers = {}) {
      const response = await fetch(`${origin}/threads/${threadId}/commands`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ id: 1, method, params }),
      })
      return (await response.json()) as Record<string, unknown>
    },
  }
}

/** A promise that the test settles. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
export const CALLER_ID = 'b7ad6b7169203331'
export const TRACEPARENT = `00-${TRACE_ID}-${CALLER_ID}-01`
