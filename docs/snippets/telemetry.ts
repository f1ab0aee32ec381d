import assert from 'node:assert/strict'
import { ask } from './kit/ask.ts'

const printed: string[] = []
console.dir = (line: unknown) => void printed.push(String((line as { name?: unknown }).name))

// #region server
import { metrics, trace } from '@opentelemetry/api'
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor, ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base'
import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'
import { openTelemetry } from 'agentwire/opentelemetry'

const spanProcessors = [new BatchSpanProcessor(new ConsoleSpanExporter())]
const readers = [new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })]
const tracerProvider = new BasicTracerProvider({ spanProcessors })
const meterProvider = new MeterProvider({ readers })
trace.setGlobalTracerProvider(tracerProvider)
metrics.setGlobalMeterProvider(meterProvider)

const telemetry = openTelemetry()
const greeter = defineAgent({ run: ({ message }) => message('Hello.') })
const server = createAgentServer({ agents: { greeter }, observe: telemetry.observe })
const stopGauges = telemetry.watch(server.engine)
const { close } = await serve(server, { port: 8000 })

process.once('SIGTERM', async () => {
  await close()
  stopGauges()
  await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()])
})
// #endregion

await ask(server.engine, 'thread', 'Hi')
process.removeAllListeners('SIGTERM')
await close()
stopGauges()
await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()])
assert.ok(printed.includes('invoke_agent greeter'))
