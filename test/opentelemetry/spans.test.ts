import { Annotation, interrupt, StateGraph } from '@langchain/langgraph'
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { ModelCall } from '../../src/index.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { openaiChat } from '../../src/models/formats/index.ts'
import { parseTraceparent } from '../../src/ops/opentelemetry/spans.ts'
import { EVENTS } from './events.ts'
import { CALLER_ID, gate, recorder, serveObserved, TRACE_ID, TRACEPARENT } from './telemetry.ts'

const echo = defineAgent({ run: async ({ message }) => void (await message().text('Hello.')) })

test('a run is one span, and the span that the traceparent of its request names is its parent', async () => {
  const { observe, seen, spans } = recorder()
  const { command } = await serveObserved({ agents: { echo }, observe })
  const before = Date.now()
  const answer = await command('t', 'run.start', { input: {} }, { traceparent: TRACEPARENT })
  await seen('run.ended')
  const [span, ...others] = spans()
  expect(others).toEqual([])
  expect(span).toMatchObject({
    name: 'invoke_agent echo',
    kind: SpanKind.INTERNAL,
    parentSpanContext: { traceId: TRACE_ID, spanId: CALLER_ID, isRemote: true },
    status: { code: SpanStatusCode.UNSET },
    links: [],
    events: [],
  })
  expect(span!.spanContext().traceId).toBe(TRACE_ID)
  expect(span!.attributes).toEqual({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'echo',
    'gen_ai.conversation.id': 't',
    'agentwire.run.id': (answer.result as { run_id: string }).run_id,
    'agentwire.run.attempt': 1,
    'agentwire.run.wait_time': expect.any(Number),
    'agentwire.run.status': 'success',
    'agentwire.run.reason': 'completed',
  })
  const millis = ([seconds, nanos]: readonly number[]) => seconds! * 1_000 + nanos! / 1e6
  expect(millis(span!.startTime)).toBeGreaterThanOrEqual(before)
  expect(millis(span!.endTime)).toBeLessThanOrEqual(Date.now())
})

test('a run whose request has no traceparent, or an invalid one, begins a trace', async () => {
  const { observe, seen, spans } = recorder()
  const { command } = await serveObserved({ agents: { echo }, observe })
  await command('t', 'run.start', { input: {} })
  await seen('run.ended')
  await command('u', 'run.start', { input: {} }, { traceparent: TRACEPARENT.toUpperCase() })
  await seen('run.ended', 2)
  expect(spans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined])
  expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(2)
})

test('the active span is not the parent: a run that waited starts in the context of another request', () => {
  const { tracer, telemetry, spans } = recorder()
  const active = trace.setSpan(ROOT_CONTEXT, tracer.startSpan('another request'))
  context.setGlobalContextManager({
    active: () => active,
    with: (_, fn, self, ...args) => fn.call(self as never, ...args),
    bind: (_, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  onTestFinished(() => context.disable())
  telemetry.observe({ ...EVENTS['run.started'], traceparent: null })
  telemetry.observe({ ...EVENTS['run.ended'], traceparent: null })
  expect(spans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined])
})

test('a run that asks and the run that goes on with the answer are two spans of one conversation', async () => {
  const State = Annotation.Root({ answer: Annotation<string> })
  const graph = new StateGraph(State)
    .addNode('ask', () => ({ answer: interrupt('Sure?') }))
    .addEdge('__start__', 'ask')
    .compile()
  const { observe, seen, spans } = recorder()
  const { command, server } = await serveObserved({ agents: { graph: langgraph(graph) }, observe })
  await command('t', 'run.start', { input: { answer: '' } }, { traceparent: TRACEPARENT })
  await seen('run.interrupted')
  const thread = await server.engine.findThread({ threadId: 't', principal: { id: 'owner-1' } })
  const interruptId = thread!.interrupts[0]!.id
  const answer = { namespace: [], interrupt_id: interruptId, response: 'yes' }
  expect(await command('t', 'input.respond', answer)).toMatchObject({ type: 'success' })
  await seen('run.ended')
  expect(spans('invoke_agent graph').map(({ attributes, status }) => [attributes, status])).toMatchObject([
    [
      {
        'gen_ai.conversation.id': 't',
        'agentwire.run.status': 'interrupted',
        'agentwire.run.reason': 'interrupted',
      },
      { code: SpanStatusCode.UNSET },
    ],
    [
      {
        'gen_ai.conversation.id': 't',
        'agentwire.run.status': 'success',
        'agentwire.run.reason': 'completed',
      },
      { code: SpanStatusCode.UNSET },
    ],
  ])
  expect(spans()[0]!.parentSpanContext?.spanId).toBe(CALLER_ID)
  expect(spans()[1]!.parentSpanContext).toBeUndefined()
})

test.each([
  ['an error', new RangeError('Too much.'), 'RangeError', 'Too much.', 1],
  ['a text', 'Too much.', '_OTHER', 'Too much.', 1],
  ['anything', { reason: 1 }, '_OTHER', undefined, 0],
] as const)('the span of a run that throws %s is an error', async (_, thrown, type, message, exceptions) => {
  const failing = defineAgent({
    run: () => {
      throw thrown
    },
  })
  const { observe, seen, spans } = recorder()
  const { command } = await serveObserved({ agents: { failing }, observe, onError: () => {} })
  await command('t', 'run.start', { input: {} })
  await seen('run.ended')
  const [span] = spans()
  expect(span!.status).toEqual({ code: SpanStatusCode.ERROR, ...(message && { message }) })
  expect(span!.attributes).toMatchObject({
    'error.type': type,
    'agentwire.run.status': 'error',
    'agentwire.run.reason': 'failed',
  })
  expect(span!.events.map(({ name, attributes }) => [name, attributes?.['exception.message']])).toEqual(
    exceptions ? [['exception', message]] : [],
  )
})

test('a cancelled run has a span without an error, one that waited tells how long, and a dropped one has none', async () => {
  const { observe, seen, spans } = recorder()
  const first = gate()
  const patient = defineAgent({
    async run({ input, signal }) {
      if ((input as { first?: boolean }).first !== true) return
      first.open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const { command, server } = await serveObserved({ agents: { patient }, observe })
  const start = async (input: object) =>
    ((await command('t', 'run.start', { input })).result as { run_id: string }).run_id
  const cancelled = await start({ first: true })
  await first.opened
  const dropped = await start({})
  const waiting = await start({})
  await seen('run.queued', 2)
  const address = { threadId: 't', principal: { id: 'owner-1' } }
  await server.engine.cancel({ ...address, runId: dropped })
  await server.engine.cancel({ ...address, runId: cancelled })
  await seen('run.ended', 3)
  expect(
    spans().map(({ attributes, status }) => [
      attributes['agentwire.run.id'],
      attributes['agentwire.run.reason'],
      status.code,
    ]),
  ).toEqual([
    [cancelled, 'cancelled', SpanStatusCode.UNSET],
    [waiting, 'completed', SpanStatusCode.UNSET],
  ])
  expect(spans()[1]!.attributes['agentwire.run.wait_time']).toBeGreaterThan(0)
})

/** An agent that has called a model, as it says itself. */
const caller = (call: ModelCall): Agent => ({
  resumable: false,
  // biome-ignore lint/correctness/useYield: a run of this agent has no events
  async *stream(task) {
    task.onModelCall?.(call)
  },
  getState: async () => undefined,
  async *getHistory() {},
  updateState: async () => ({ checkpointId: 'none' }),
})

test('a call of a model is a child of its run, with its own times, tokens and time to the first token', async () => {
  const { observe, seen, spans } = recorder()
  const at = Date.now()
  const call: ModelCall = {
    startedAt: at,
    firstTokenAt: at + 250,
    endedAt: at + 1_000,
    provider: 'amazon_bedrock',
    model: 'claude',
    finishReason: 'stop',
    usage: { inputTokens: 9, outputTokens: 4 },
    error: undefined,
  }
  const { command } = await serveObserved({ agents: { caller: caller(call) }, observe })
  await command('t', 'run.start', { input: {} })
  await seen('run.ended')
  const [run] = spans('invoke_agent caller')
  const [chat] = spans('chat claude')
  expect(chat!.parentSpanContext?.spanId).toBe(run!.spanContext().spanId)
  expect(chat).toMatchObject({
    kind: SpanKind.CLIENT,
    duration: [1, 0],
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'aws.bedrock',
      'gen_ai.request.model': 'claude',
      'gen_ai.response.model': 'claude',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.conversation.id': 't',
      'agentwire.run.id': run!.attributes['agentwire.run.id'],
    },
  })
})

test.each([
  ['toolCalls', 'tool_call'],
  ['contentFilter', 'content_filter'],
  ['length', 'length'],
])('the finish reason %s of a call is %s in its span', (finishReason, word) => {
  const { telemetry, spans } = recorder()
  const event = EVENTS['run.model_called']
  telemetry.observe({ ...event, call: { ...event.call, finishReason } })
  expect(spans()[0]!.attributes['gen_ai.response.finish_reasons']).toEqual([word])
})

test.each([
  ['RateLimitError: try later', 'RateLimitError'],
  ['run_1: try later', '_OTHER'],
  ['Cancelled.', '_OTHER'],
])('a failed call of a model (%s) has an error of the type %s', async (error, type) => {
  const { observe, seen, spans } = recorder()
  const [at, none] = [Date.now(), undefined]
  const call: ModelCall = {
    startedAt: at,
    firstTokenAt: null,
    endedAt: at,
    provider: none,
    model: none,
    finishReason: none,
    usage: none,
    error,
  }
  const { command } = await serveObserved({ agents: { caller: caller(call) }, observe })
  await command('t', 'run.start', { input: {} })
  await seen('run.ended')
  const [chat] = spans('chat')
  expect(chat!.status).toEqual({ code: SpanStatusCode.ERROR, message: error })
  expect(chat!.attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'error.type': type,
    'gen_ai.conversation.id': 't',
    'agentwire.run.id': expect.any(String),
  })
})

test('model() of an agent function makes the span of a call, and its tokens are those of the run', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'gpt-4o',
    choices: [{ index: 0, delta, finish_reason }],
  })
  async function* answer() {
    yield chunk({ role: 'assistant', content: '' })
    yield chunk({ content: 'Hello.' })
    yield chunk({}, 'stop')
    yield { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } }
  }
  const writer = defineAgent({ run: async ({ model }) => void (await model(answer(), openaiChat)) })
  const { observe, seen, spans } = recorder()
  const { command } = await serveObserved({ agents: { writer }, observe })
  await command('t', 'run.start', { input: {} })
  await seen('run.ended')
  const [run] = spans('invoke_agent writer')
  const [chat] = spans('chat gpt-4o')
  const usage = { 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.output_tokens': 4 }
  expect(run!.attributes).toMatchObject(usage)
  expect(chat!.attributes).toMatchObject({ ...usage, 'gen_ai.provider.name': 'openai' })
  expect(chat!.parentSpanContext?.spanId).toBe(run!.spanContext().spanId)
})

test.each([
  ['version 00', TRACEPARENT, TraceFlags.SAMPLED],
  ['a trace that is not sampled', `00-${TRACE_ID}-${CALLER_ID}-00`, TraceFlags.NONE],
  ['flags that are not known yet', `00-${TRACE_ID}-${CALLER_ID}-ff`, TraceFlags.SAMPLED],
  ['a later version', `01-${TRACE_ID}-${CALLER_ID}-01`, TraceFlags.SAMPLED],
  ['a later version with more fields', `cc-${TRACE_ID}-${CALLER_ID}-01-what-else`, TraceFlags.SAMPLED],
])('a traceparent is read: %s', (_, header, traceFlags) => {
  expect(parseTraceparent(header)).toEqual({
    traceId: TRACE_ID,
    spanId: CALLER_ID,
    traceFlags,
    isRemote: true,
  })
})

test.each([
  ['none', null],
  ['an empty one', ''],
  ['the version ff', `ff-${TRACE_ID}-${CALLER_ID}-01`],
  ['more fields in version 00', `${TRACEPARENT}-what-else`],
  ['more text without a field', `cc-${TRACE_ID}-${CALLER_ID}-01.`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${CALLER_ID}-01`],
  ['a span id of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
  ['upper case', TRACEPARENT.toUpperCase()],
  ['a short trace id', `00-${TRACE_ID.slice(1)}-${CALLER_ID}-01`],
  ['flags of one digit', `00-${TRACE_ID}-${CALLER_ID}-1`],
  ['two headers', `${TRACEPARENT}, ${TRACEPARENT}`],
  ['white space', ` ${TRACEPARENT}`],
])('a traceparent is ignored: %s', (_, header) => {
  expect(parseTraceparent(header)).toBeUndefined()
})

test('every traceparent of version 00 is read, and no text is one by accident', () => {
  const hex = (length: number) =>
    fc
      .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
      .map((digits) => digits.join(''))
      .filter((id) => /[^0]/.test(id))
  fc.assert(
    fc.property(hex(32), hex(16), fc.nat(255), (traceId, spanId, flags) => {
      const header = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
      expect(parseTraceparent(header)).toEqual({ traceId, spanId, traceFlags: flags & 1, isRemote: true })
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parseTraceparent(text)).toBeUndefined()
    }),
  )
})
