import { diag, metrics, trace } from '@opentelemetry/api'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished, test } from 'vitest'
import { subscribe } from '../../src/engine/index.ts'
import { defineAgent, memoryStore, type Store, UnavailableError } from '../../src/index.ts'
import { openTelemetry } from '../../src/ops/opentelemetry/opentelemetry.ts'
import { about, EVENTS } from './events.ts'
import { gate, ManualReader, type Point, recorder, serveObserved } from './telemetry.ts'

const principal = { id: 'owner-1' }
const echo = defineAgent({ run: async ({ message }) => void (await message().text('Hello.')) })
const failing = defineAgent({
  run: () => {
    throw new RangeError('Too much.')
  },
})
const asking = defineAgent({ run: async ({ interrupt }) => void (await interrupt('Sure?')) })

const at = (points: readonly Point[] | undefined, attributes: Readonly<Record<string, unknown>>): unknown =>
  points?.find((point) =>
    Object.entries(attributes).every(([name, value]) => point.attributes[name] === value),
  )?.value

test('runs are counted and timed by agent, status and reason; refusals by route, status and code', async () => {
  const { observe, seen, collect } = recorder()
  const agents = { echo, failing, asking }
  const { command, origin } = await serveObserved({
    agents,
    defaultAgent: 'echo',
    observe,
    onError: () => {},
  })
  await command('t', 'run.start', { assistant_id: 'echo', input: {} })
  await command('u', 'run.start', { assistant_id: 'echo', input: {} })
  await command('v', 'run.start', { assistant_id: 'failing', input: {} })
  await command('w', 'run.start', { assistant_id: 'asking', input: {} })
  await seen('run.ended', 3)
  await seen('run.interrupted')
  await command('x', 'run.start', { assistant_id: 'nobody', input: {} })
  expect((await fetch(`${origin}/threads/nowhere`)).status).toBe(404)
  expect((await fetch(`${origin}/threads/t`, { method: 'DELETE' })).ok).toBe(true)
  const collected = await collect()
  expect(collected.get('agentwire.runs')).toEqual(
    [
      ['echo', 'success', 'completed', 2],
      ['failing', 'error', 'failed', 1],
      ['asking', 'interrupted', 'interrupted', 1],
    ].map(([agent, status, reason, value]) => ({
      attributes: {
        'gen_ai.agent.name': agent,
        'agentwire.run.status': status,
        'agentwire.run.reason': reason,
      },
      value,
    })),
  )
  const echoed = { 'gen_ai.agent.name': 'echo' }
  expect(at(collected.get('agentwire.run.duration'), echoed)).toMatchObject({ count: 2 })
  expect(at(collected.get('agentwire.run.wait_time'), echoed)).toMatchObject({ count: 2 })
  expect(collected.get('agentwire.requests.refused')).toEqual([
    {
      attributes: {
        'http.route': '/threads/:thread_id/commands',
        'http.response.status_code': 200,
        'error.type': 'invalid_argument',
      },
      value: 1,
    },
    {
      attributes: {
        'http.route': '/threads/:thread_id',
        'http.response.status_code': 404,
        'error.type': expect.any(String),
      },
      value: 1,
    },
  ])
  expect(collected.get('agentwire.threads.deleted')).toEqual([{ attributes: {}, value: 1 }])
})

test('a run that is dropped while it waits counts, without a duration', async () => {
  const { observe, collect } = recorder()
  observe({ ...about, type: 'run.queued', position: 1 })
  observe({
    ...about,
    type: 'run.ended',
    status: 'interrupted',
    reason: 'superseded',
    durationMs: null,
    usage: null,
  })
  const collected = await collect()
  expect(at(collected.get('agentwire.runs'), { 'agentwire.run.reason': 'superseded' })).toBe(1)
  expect(collected.get('agentwire.run.duration') ?? []).toEqual([])
})

test('calls of models are measured as the conventions say', async () => {
  const { observe, collect } = recorder()
  const call = {
    startedAt: 1_000,
    firstTokenAt: 1_500,
    endedAt: 3_000,
    provider: 'google',
    model: 'gemini-2.5-pro',
    finishReason: 'stop',
    usage: { inputTokens: 9, outputTokens: 4 },
    error: undefined,
  }
  observe({ ...about, type: 'run.model_called', call })
  observe({
    ...about,
    type: 'run.model_called',
    call: { ...call, firstTokenAt: null, error: 'TimeoutError: late' },
  })
  const unknown = { ...call, model: 'unmetered', usage: undefined }
  observe({ ...about, type: 'run.model_called', call: unknown })
  const collected = await collect()
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'gcp.gemini',
    'gen_ai.request.model': 'gemini-2.5-pro',
    'gen_ai.response.model': 'gemini-2.5-pro',
  }
  expect(collected.get('gen_ai.client.inference.duration')).toMatchObject([
    { attributes, value: { count: 1, sum: 2 } },
    { attributes: { ...attributes, 'error.type': 'TimeoutError' }, value: { count: 1, sum: 2 } },
    { attributes: { 'gen_ai.request.model': 'unmetered' }, value: { count: 1, sum: 2 } },
  ])
  expect(collected.get('gen_ai.client.inference.time_to_first_chunk')).toMatchObject([
    { attributes, value: { count: 1, sum: 0.5 } },
    { attributes: { 'gen_ai.request.model': 'unmetered' }, value: { count: 1, sum: 0.5 } },
  ])
  expect(collected.get('gen_ai.client.inference.usage.input_tokens')).toMatchObject([
    { attributes, value: 18 },
  ])
  expect(collected.get('gen_ai.client.inference.usage.output_tokens')).toMatchObject([
    { attributes, value: 8 },
  ])
})

test('no metric has the id of a thread, a run, an owner or a trace', async () => {
  const { observe, collect } = recorder()
  for (const event of Object.values(EVENTS)) observe(event)
  const collected = await collect()
  expect(collected.size).toBeGreaterThan(9)
  const attributes = [...collected.values()].flat().map((point) => point.attributes)
  expect(JSON.stringify(attributes)).not.toMatch(/thread-1|run-1|owner-1|interrupt-1|0af7651916cd/)
})

/** A store that can be taken away. */
function fragileStore() {
  const inner = memoryStore()
  let away = false
  const store: Store = new Proxy(inner, {
    get(target, key: keyof Store) {
      if (key === 'capabilities') return { ...target.capabilities, shared: true }
      const member = target[key] as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (away && key !== 'watch' && key !== 'close')
          return Promise.reject(new UnavailableError('The network is gone.', { written: 'no' }))
        return (member as (...args: unknown[]) => unknown).apply(target, args)
      }
    },
  })
  const set = (value: boolean) => {
    away = value
  }
  return { store, set }
}

test('a store that is away counts until it is back, for as long as it was; the gauges have a gap', async () => {
  const { observe, seen, collect, telemetry } = recorder()
  const { store, set } = fragileStore()
  const { server } = await serveObserved({ agents: { echo }, store, observe, onError: () => {} })
  telemetry.watch(server.engine)
  const thread = { threadId: 't', principal }
  set(true)
  await expect(server.engine.findThread(thread)).rejects.toThrow(UnavailableError)
  await seen('store.unavailable')
  const away = await collect()
  expect(away.get('agentwire.store.unavailable')).toEqual([{ attributes: {}, value: 1 }])
  expect(away.get('agentwire.runs.running') ?? []).toEqual([])
  set(false)
  await server.engine.findThread(thread)
  await seen('store.recovered')
  const back = await collect()
  expect(back.get('agentwire.store.unavailable')).toEqual([{ attributes: {}, value: 0 }])
  expect(back.get('agentwire.store.unavailable.duration')).toMatchObject([{ value: { count: 1 } }])
  expect(back.get('agentwire.runs.running')).toEqual([{ attributes: {}, value: 0 }])
})

test('the gauges tell how the engine stands, until they are stopped', async () => {
  const { observe, seen, collect, telemetry } = recorder()
  const started = gate()
  const release = gate()
  const patient = defineAgent({
    async run() {
      started.open()
      await release.opened
    },
  })
  const { command, server } = await serveObserved({ agents: { patient }, observe })
  let reads = 0
  const stop = telemetry.watch({
    measure() {
      reads++
      return server.engine.measure()
    },
  })
  await command('t', 'run.start', { input: {} })
  await started.opened
  await command('t', 'run.start', { input: {} })
  const subscription = subscribe(server.engine, {
    threadId: 't',
    principal,
    filter: { channels: ['lifecycle'] },
  })
  await subscription.next()
  const valuesOf = async () => {
    const collected = await collect()
    return [
      'agentwire.runs.running',
      'agentwire.runs.queued',
      'agentwire.subscribers',
      'agentwire.subscribers.lag',
    ].map((name) => collected.get(name)?.[0]?.value)
  }
  expect(await valuesOf()).toEqual([1, 1, 1, expect.any(Number)])
  subscription.cancel()
  release.open()
  await seen('run.ended', 2)
  expect((await valuesOf())[1]).toBe(0)
  expect((await valuesOf())[2]).toBe(0)
  const before = reads
  stop()
  await collect()
  expect([before, reads]).toEqual([3, 3])
})

test('what a tracer or a meter throws goes to the diag logger, and neither stops the other', async () => {
  const told: unknown[] = []
  diag.setLogger({ error: (...args) => told.push(...args), warn() {}, info() {}, debug() {}, verbose() {} })
  onTestFinished(() => diag.disable())
  const { meter, tracer, collect, spans } = recorder()
  const broken = new Proxy(
    {},
    {
      get: () => () => {
        throw new Error('broken')
      },
    },
  ) as never
  const start = { ...about, type: 'run.started', waitedMs: 0 } as const
  const end = {
    ...about,
    type: 'run.ended',
    status: 'success',
    reason: 'completed',
    durationMs: 1,
    usage: null,
  } as const
  for (const telemetry of [
    openTelemetry({ tracer: broken, meter }),
    openTelemetry({ tracer, meter: broken }),
  ]) {
    expect(() => telemetry.observe(start)).not.toThrow()
    expect(() => telemetry.observe(end)).not.toThrow()
  }
  expect(at((await collect()).get('agentwire.runs'), {})).toBe(1)
  expect(spans()).toHaveLength(1)
  expect(told.filter((one) => one instanceof Error).map((error) => (error as Error).message)).toContain(
    'broken',
  )
})

test('by default spans and metrics go to the global providers, also when these are registered later', async () => {
  const telemetry = openTelemetry()
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
  const reader = new ManualReader()
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  onTestFinished(() => {
    trace.disable()
    metrics.disable()
  })
  const end = {
    type: 'run.ended',
    status: 'success',
    reason: 'completed',
    durationMs: 1,
    usage: null,
  } as const
  telemetry.observe({ ...about, ...end })
  expect(exporter.getFinishedSpans().map(({ instrumentationScope }) => instrumentationScope.name)).toEqual([
    'agentwire',
  ])
  const { resourceMetrics } = await reader.collect()
  expect(resourceMetrics.scopeMetrics.map(({ scope }) => scope.name)).toEqual(['agentwire'])
})
