import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeUsage, type Message } from '../../../src/messages/index.ts'
import {
  convertModelCall,
  memorySink,
  startLlmRun,
  type TracedRun,
} from '../../../src/models/tracing/index.ts'
import {
  genAiAttributes,
  openTelemetrySink,
  readGenAiAttributes,
} from '../../../src/models/tracing/sinks/opentelemetry.ts'
import { formats } from '../../formats/examples.ts'
import { frozen, viaJson } from '../../formats/helpers.ts'
import { runs } from '../../kit/runs.ts'

const RUNS = runs(100)

const request = {
  model: 'claude-sonnet-4-5',
  max_tokens: 99,
  temperature: 0.5,
  stop_sequences: ['END'],
  system: 'Be brief.',
  tools: [{ name: 'add', input_schema: { type: 'object' } }],
  messages: [
    {
      role: 'user',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'tu_1', name: 'add', input: { a: 1 } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tu_1', content: '3' }] },
  ],
}
const response = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
    { type: 'text', text: 'Three.' },
    { type: 'tool_use', id: 'tu_2', name: 'add', input: { a: 2 } },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5, output_tokens: 6 },
}

function tracing() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  return { exporter, tracer, sink: openTelemetrySink({ tracer }) }
}

test('a run is a span with the attributes of the conventions, and the event of the first token', async () => {
  const { exporter, sink } = tracing()
  const run = startLlmRun({
    name: 'answer',
    request,
    sinks: [sink],
    tags: ['a', 'b'],
    metadata: { thread_id: 't' },
  })
  run.addEvent('new_token')
  run.end(response)
  await run.delivered()
  const [span] = exporter.getFinishedSpans()
  expect(span!.name).toBe('chat claude-sonnet-4-5')
  expect(span!.kind).toBe(SpanKind.CLIENT)
  expect(span!.events.map(({ name }) => name)).toEqual(['new_token'])
  expect(span!.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-sonnet-4-5',
    'gen_ai.request.max_tokens': 99,
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.stop_sequences': ['END'],
    'gen_ai.response.id': 'msg_1',
    'gen_ai.response.model': 'claude-sonnet-4-5',
    'gen_ai.response.finish_reasons': ['tool_call'],
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 6,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'gen_ai.usage.cache_write.input_tokens': 5,
    'gen_ai.conversation.id': 't',
    'langsmith.span.kind': 'llm',
    'langsmith.trace.name': 'answer',
    'langsmith.span.tags': 'a,b',
    'langsmith.metadata.thread_id': 't',
    'langsmith.metadata.ls_provider': 'anthropic',
    'langsmith.usage_metadata': JSON.stringify({
      input_tokens: 12,
      output_tokens: 6,
      total_tokens: 18,
      input_token_details: { cache_read: 4, cache_creation: 5 },
    }),
  })
  const parsed = (name: string) => JSON.parse(String(span!.attributes[name])) as unknown
  expect(parsed('gen_ai.tool.definitions')).toEqual([{ name: 'add', input_schema: { type: 'object' } }])
  expect(parsed('gen_ai.input.messages')).toEqual([
    { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
    { role: 'user', parts: [{ type: 'blob', modality: 'image', mime_type: 'image/png', content: 'AAAA' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'tu_1', name: 'add', arguments: { a: 1 } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'tu_1', response: '3' }] },
  ])
  expect(parsed('gen_ai.output.messages')).toEqual([
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'Hm.' },
        { type: 'text', content: 'Three.' },
        { type: 'tool_call', id: 'tu_2', name: 'add', arguments: { a: 2 } },
      ],
      finish_reason: 'tool_call',
    },
  ])
})

test('spans nest like the runs within the active span, and a failed run has an error status', async () => {
  const { exporter, tracer, sink } = tracing()
  const outer = tracer.startSpan('outer')
  const spy = { create: sink.create, update: sink.update }
  const inOuter = trace.setSpan(context.active(), outer)
  const run = startLlmRun({ name: 'chain', type: 'chain', inputs: { q: 1 }, sinks: [spy] })
  const child = run.child({ name: 'model', request })
  child.fail(new RangeError('too much'))
  await child.delivered()
  run.end({ answer: 1 })
  await run.delivered()
  outer.end()
  expect(trace.getSpan(inOuter)).toBe(outer)
  const spans = exporter.getFinishedSpans()
  const named = (name: string) => spans.find((span) => span.name === name)!
  expect(named('chat claude-sonnet-4-5').parentSpanContext?.spanId).toBe(named('chain').spanContext().spanId)
  expect(named('chain').attributes).toMatchObject({
    'gen_ai.prompt': '{"q":1}',
    'gen_ai.completion': '{"answer":1}',
    'langsmith.span.kind': 'chain',
  })
  expect(named('chat claude-sonnet-4-5').status).toEqual({
    code: SpanStatusCode.ERROR,
    message: 'RangeError: too much',
  })
  expect(named('chat claude-sonnet-4-5').attributes['error.type']).toBe('RangeError')
})

test('messages of other shapes are read too', async () => {
  for (const target of ['completions', 'anthropic', 'responses']) {
    const memory = memorySink()
    const run = startLlmRun({ name: 'm', request, target, sinks: [memory] })
    run.end(response)
    await run.delivered()
    const { output } = readGenAiAttributes(genAiAttributes(memory.runs[0]!))
    expect(output[0]!.content).toContainEqual({ type: 'text', text: 'Three.' })
    expect(output[0]!.content).toContainEqual(
      expect.objectContaining({ type: 'toolCall', id: 'tu_2', args: { a: 2 } }),
    )
  }
})

/** The part of a message that a round trip keeps. */
const core = (messages: readonly Message[]) =>
  messages.map(({ role, content, toolCallId }) => ({
    role,
    toolCallId,
    content: content.map(({ extras, ...block }) => {
      const { type } = block
      if (type === 'text' || type === 'reasoning') return { type, text: block.text }
      return type === 'invalidToolCall' ? { ...block, error: '' } : block
    }),
  }))

function recordOf(request: unknown, response: unknown, format: string): TracedRun {
  const { inputs, outputs, metadata, events } = convertModelCall({ request, response, format })
  const place = { id: 'i', trace_id: 'i', dotted_order: 'd', start_time: '2026-01-01T00:00:00Z' }
  return { ...place, name: 'm', run_type: 'llm', inputs, outputs, events, extra: { metadata } }
}

test.each(formats)(
  'text, ids, arguments and counts of %s are read back from the attributes',
  (_, format, examples) => {
    fc.assert(
      fc.property(examples, ({ response }) => {
        const plain = viaJson(response)
        const run = recordOf(undefined, plain, format.name)
        if (run.extra.metadata.ls_model_type === 'llm') return
        const { messages } = format.readResponse(plain)
        const back = readGenAiAttributes(genAiAttributes(frozen(run)))
        expect(viaJson(core(back.output))).toEqual(viaJson(core(messages)))
        expect(back.usage && encodeUsage(back.usage)).toEqual(run.extra.metadata.usage_metadata)
        expect(genAiAttributes({ ...run })['langsmith.usage_metadata']).toBe(
          run.extra.metadata.usage_metadata && JSON.stringify(run.extra.metadata.usage_metadata),
        )
      }),
      { numRuns: RUNS },
    )
  },
)

test.each([
  ['stop', 'stop', 'stop'],
  ['length', 'length', 'length'],
  ['tool_calls', 'tool_call', 'toolCalls'],
  ['content_filter', 'content_filter', 'contentFilter'],
])('the finish reason %s is written as %s and read back as %s', (raw, word, reason) => {
  const message = { role: 'assistant', content: 'Hi' }
  const run = recordOf(
    undefined,
    { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: raw }] },
    'openaiChat',
  )
  const attributes = genAiAttributes(run)
  expect(attributes['gen_ai.response.finish_reasons']).toEqual([word])
  expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toMatchObject([{ finish_reason: word }])
  const back = readGenAiAttributes(attributes)
  expect(back.output).toMatchObject([{ finishReason: reason }])
  expect(back.finishReasons).toEqual([reason])
})

test('spans of other libraries are read', () => {
  const answer = (id: string, fields: object) => ({ type: 'tool_call_response', id, ...fields })
  const { input, usage, provider } = readGenAiAttributes({
    'gen_ai.provider.name': 'openai',
    'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'Be brief.' }]),
    'gen_ai.input.messages': JSON.stringify([
      { role: 'user', parts: [{ type: 'text', content: 'Weather?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'tool_call', id: 'a', name: 'f', arguments: '{"x":1}' },
          { type: 'tool_call', id: 'b', name: 'f', arguments: { x: 2 } },
        ],
      },
      {
        role: 'user',
        parts: [
          answer('a', { name: 'f', result: 'rain' }),
          answer('b', { response: { sky: 'blue' } }),
          { type: 'text', content: 'And?' },
        ],
      },
      { role: 'tool', parts: [answer('c', { response: ['a', 'b'] })] },
    ]),
    'gen_ai.usage.input_tokens': 9,
    'gen_ai.usage.output_tokens': 4,
    'gen_ai.usage.details.cache_read_tokens': 5,
    'gen_ai.usage.details.reasoning_tokens': 2,
  })
  expect(provider).toBe('openai')
  expect(input).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    {
      role: 'assistant',
      content: [
        { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
        { type: 'toolCall', id: 'b', name: 'f', args: { x: 2 } },
      ],
    },
    { role: 'tool', name: 'f', toolCallId: 'a', content: [{ type: 'text', text: 'rain' }] },
    { role: 'tool', toolCallId: 'b', content: [{ type: 'text', text: '{"sky":"blue"}' }] },
    { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    { role: 'tool', toolCallId: 'c', content: [{ type: 'text', text: '["a","b"]' }] },
  ])
  expect(usage).toMatchObject({ inputDetails: { cache_read: 5 }, outputDetails: { reasoning: 2 } })
})

test('older names of counts are read, and instructions that are a text', () => {
  const { input, usage, provider } = readGenAiAttributes({
    'gen_ai.system': 'openai',
    'gen_ai.system_instructions': 'Be brief.',
    'gen_ai.usage.prompt_tokens': 9,
    'gen_ai.usage.completion_tokens': 4,
    'gen_ai.usage.cache_read_input_tokens': 5,
    'gen_ai.usage.cache_creation.input_tokens': 1,
  })
  expect(provider).toBe('openai')
  expect(input).toEqual([{ role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }])
  expect(usage).toMatchObject({
    inputTokens: 9,
    outputTokens: 4,
    inputDetails: { cache_read: 5, cache_creation: 1 },
  })
})

test('finish reasons of other libraries are read, with messages and without', () => {
  const reasons = { 'gen_ai.response.finish_reasons': ['end_turn', 'tool_calls', 'SAFETY', 'new'] }
  expect(readGenAiAttributes(reasons)).toEqual({
    input: [],
    output: [],
    finishReasons: ['stop', 'toolCalls', 'contentFilter', 'other'],
  })
  const answers = [
    { role: 'assistant', parts: [] },
    { role: 'assistant', parts: [], finish_reason: 'max_tokens' },
  ]
  expect(
    readGenAiAttributes({ ...reasons, 'gen_ai.output.messages': JSON.stringify(answers) }).output,
  ).toMatchObject([{ finishReason: 'stop' }, { finishReason: 'length' }])
})

test('a span names the requested model, and the model that answered beside it', async () => {
  const { exporter, sink } = tracing()
  const run = startLlmRun({ name: 'answer', request: { ...request, model: 'claude-latest' }, sinks: [sink] })
  run.end(response)
  await run.delivered()
  const [span] = exporter.getFinishedSpans()
  expect(span!.name).toBe('chat claude-latest')
  expect(span!.attributes).toMatchObject({
    'gen_ai.request.model': 'claude-latest',
    'gen_ai.response.model': 'claude-sonnet-4-5',
    'langsmith.metadata.ls_model_name': 'claude-sonnet-4-5',
  })
  expect(readGenAiAttributes(span!.attributes).model).toBe('claude-sonnet-4-5')
})

test.each(['completions', 'anthropic', 'responses', 'langchain', 'vercel', undefined])(
  'a call that fails before it answers has no output in the shape %s',
  async (target) => {
    for (const answer of [
      undefined,
      { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } },
    ]) {
      const { exporter, sink } = tracing()
      const run = startLlmRun({ name: 'answer', request, target, sinks: [sink] })
      const { outputs } = run.fail(new RangeError('Busy'), answer)
      if (!answer) expect(outputs).toEqual({})
      await run.delivered()
      const { attributes } = exporter.getFinishedSpans()[0]!
      expect(Object.keys(attributes).filter((key) => /output|response/.test(key))).toEqual([])
      expect(attributes['error.type']).toBe('RangeError')
    }
  },
)

test('counts of other libraries are read from the flat attributes', () => {
  expect(
    readGenAiAttributes({
      'gen_ai.provider.name': 'x',
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.output.messages': 'no JSON',
    }),
  ).toEqual({
    input: [],
    output: [],
    provider: 'x',
    usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12, inputDetails: { cache_read: 4 } },
  })
})

test('cache reads and thoughts of a service tier are counted under the names of the conventions', () => {
  const { metadata, inputs, outputs } = convertModelCall({
    response: {
      object: 'chat.completion',
      service_tier: 'flex',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    },
  })
  const run = { name: 'r', run_type: 'llm', inputs, outputs, extra: { metadata }, events: [] }
  expect(genAiAttributes(run as unknown as TracedRun)).toMatchObject({
    'gen_ai.usage.cache_read.input_tokens': 4,
    'gen_ai.usage.reasoning.output_tokens': 3,
  })
})
