import { expect, test } from 'vitest'
import type { Json } from '../kit/events.ts'
import { assistant, eventsOf, served, WEATHER } from './served.ts'

/**
 * The checks of Open Responses' compliance tests (github.com/openresponses/openresponses, 2026-04-24), in our words: what each request must be
 * answered with, which fields a response must have, and which events a stream may have. test/README.md says how to run theirs.
 */

/** The required fields of `ResponseResource`, and what each may be. */
const FIELDS: Readonly<Record<string, (value: Json) => boolean>> = {
  id: isText,
  object: (value) => value === 'response',
  created_at: Number.isInteger,
  completed_at: orNull(Number.isInteger),
  status: isText,
  incomplete_details: orNull(isObject),
  model: isText,
  previous_response_id: orNull(isText),
  instructions: orNull(isText),
  output: Array.isArray,
  error: orNull(isObject),
  tools: (value) => Array.isArray(value) && value.every(isTool),
  tool_choice: (value) => isText(value) || isObject(value),
  truncation: (value) => value === 'auto' || value === 'disabled',
  parallel_tool_calls: isFlag,
  text: (value) => isObject(value) && isText(value.format.type),
  top_p: isNumber,
  presence_penalty: isNumber,
  frequency_penalty: isNumber,
  top_logprobs: Number.isInteger,
  temperature: isNumber,
  reasoning: orNull(isObject),
  user: orNull(isText),
  usage: orNull(isUsage),
  max_output_tokens: orNull(Number.isInteger),
  max_tool_calls: orNull(Number.isInteger),
  store: isFlag,
  background: isFlag,
  service_tier: isText,
  metadata: isObject,
  safety_identifier: orNull(isText),
  prompt_cache_key: orNull(isText),
}

function isText(value: Json): boolean {
  return typeof value === 'string'
}
function isNumber(value: Json): boolean {
  return typeof value === 'number'
}
function isFlag(value: Json): boolean {
  return typeof value === 'boolean'
}
function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
function orNull(check: (value: Json) => boolean): (value: Json) => boolean {
  return (value) => value === null || check(value)
}
function isTool(value: Json): boolean {
  return (
    value.type === 'function' &&
    isText(value.name) &&
    'description' in value &&
    'parameters' in value &&
    'strict' in value
  )
}
function isUsage(value: Json): boolean {
  const counts = [value.input_tokens, value.output_tokens, value.total_tokens]
  const details = [value.input_tokens_details.cached_tokens, value.output_tokens_details.reasoning_tokens]
  return [...counts, ...details].every(Number.isInteger)
}

/** What the items of an output must have. */
const ITEMS: Readonly<Record<string, (item: Json) => boolean>> = {
  message: ({ role, status, content }) =>
    role === 'assistant' &&
    isText(status) &&
    content.every(
      (part: Json) =>
        part.type === 'output_text' &&
        isText(part.text) &&
        Array.isArray(part.annotations) &&
        Array.isArray(part.logprobs),
    ),
  function_call: (item) => [item.call_id, item.name, item.arguments, item.status].every(isText),
  reasoning: ({ summary }) =>
    summary.every((part: Json) => part.type === 'summary_text' && isText(part.text)),
}

/** The fields of the events that a stream may have, beside `type` and `sequence_number`. */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.queued': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.failed': ['response'],
  'response.incomplete': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': ['item_id', 'output_index', 'content_index', 'part'],
  'response.content_part.done': ['item_id', 'output_index', 'content_index', 'part'],
  'response.output_text.delta': ['item_id', 'output_index', 'content_index', 'delta', 'logprobs'],
  'response.output_text.done': ['item_id', 'output_index', 'content_index', 'text', 'logprobs'],
  'response.output_text.annotation.added': [
    'item_id',
    'output_index',
    'content_index',
    'annotation_index',
    'annotation',
  ],
  'response.function_call_arguments.delta': ['item_id', 'output_index', 'delta'],
  'response.function_call_arguments.done': ['item_id', 'output_index', 'arguments'],
  'response.reasoning_summary_part.added': ['item_id', 'output_index', 'summary_index', 'part'],
  'response.reasoning_summary_part.done': ['item_id', 'output_index', 'summary_index', 'part'],
  'response.reasoning_summary_text.delta': ['item_id', 'output_index', 'summary_index', 'delta'],
  'response.reasoning_summary_text.done': ['item_id', 'output_index', 'summary_index', 'text'],
}

function checkResponse(response: Json): void {
  for (const [field, check] of Object.entries(FIELDS))
    expect([field, field in response && check(response[field])]).toEqual([field, true])
  for (const item of response.output) {
    expect([item.type, isText(item.id) && ITEMS[item.type]?.(item)]).toEqual([item.type, true])
  }
}

const message = (role: string, content: Json) => ({ type: 'message', role, content })
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const tools = [{ type: 'function', ...WEATHER }]
const weather = [message('user', 'What is the weather in San Francisco?')]

interface Check {
  readonly request: Json
  readonly has?: string
}

const CHECKS: Readonly<Record<string, Check>> = {
  'basic-response': { request: { input: [message('user', 'Say hello.')] } },
  'streaming-response': { request: { input: [message('user', 'Count.')], stream: true } },
  'system-prompt': {
    request: { input: [message('system', 'You are a pirate.'), message('user', 'Say hello.')] },
  },
  'tool-calling': { request: { input: weather, tools }, has: 'function_call' },
  'tool-calling-streaming': { request: { input: weather, tools, stream: true }, has: 'function_call' },
  'function-call-roundtrip': {
    request: {
      tools,
      input: [
        ...weather,
        {
          type: 'function_call',
          call_id: 'call_1',
          name: 'get_weather',
          arguments: '{"location":"San Francisco"}',
        },
        { type: 'function_call_output', call_id: 'call_1', output: '{"temperature":18}' },
      ],
    },
    has: 'message',
  },
  'image-input': {
    request: {
      input: [
        message('user', [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: image },
        ]),
      ],
    },
  },
  'file-input': {
    request: {
      input: [
        message('user', [
          { type: 'input_text', text: 'What is in it?' },
          { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' },
        ]),
      ],
    },
  },
  'multi-turn': {
    request: {
      input: [
        message('user', 'My name is Alice.'),
        message('assistant', 'Hello Alice!'),
        message('user', 'What is my name?'),
      ],
    },
  },
}

test.each(Object.entries(CHECKS))('%s', async (_, { request: body, has = 'message' }) => {
  const { request } = await served({ assistant })
  const answer = await request('POST', '/responses', { model: 'assistant', ...body })
  expect(answer.status).toBe(200)
  const events = body.stream ? eventsOf(answer.text) : []
  const response = body.stream ? events.at(-1)?.response : answer.body
  checkResponse(response)
  expect(response.status).toBe('completed')
  expect(response.output.map(({ type }: Json) => type)).toContain(has)
  for (const event of events) {
    expect(Object.keys(EVENTS)).toContain(event.type)
    expect(Object.keys(event)).toEqual(expect.arrayContaining(['sequence_number', ...EVENTS[event.type]!]))
    if ('response' in event) checkResponse(event.response)
    if ('item' in event) expect(isText(event.item.id)).toBe(true)
  }
  if (!body.stream || has !== 'function_call') return
  const ofCalls = events
    .filter(({ type, item }) => item?.type === has || type.includes('arguments'))
    .map(({ type }) => type)
  expect(ofCalls).toEqual([
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
  ])
})

test('previous-response-id', async () => {
  const { request } = await served({ assistant })
  const first = await request('POST', '/responses', {
    model: 'assistant',
    input: [message('user', 'My name is Alice.')],
  })
  const body = {
    model: 'assistant',
    previous_response_id: first.body.id,
    input: [message('user', 'What is my name?')],
  }
  const second = await request('POST', '/responses', body)
  checkResponse(second.body)
  expect(second.body).toMatchObject({ status: 'completed', previous_response_id: first.body.id })
})
