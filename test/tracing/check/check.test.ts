import { describe, expect, test } from 'vitest'
import { checkLlmRun, convertModelCall } from '../../../src/models/tracing/index.ts'

const good = {
  run_type: 'llm',
  inputs: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  outputs: { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }] },
  extra: {
    metadata: {
      ls_provider: 'openai',
      ls_model_name: 'gpt-4o',
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
  },
}
const paths = (run: object) => checkLlmRun(run).map(({ path }) => path)
const output = (...content: unknown[]) => ({
  ...good,
  outputs: { messages: [{ role: 'assistant', content }] },
})
const withUsage = (usage_metadata: unknown) => ({
  ...good,
  extra: { metadata: { ...good.extra.metadata, usage_metadata } },
})

test('a good run has no findings, in any accepted shape', () => {
  expect(checkLlmRun(good)).toEqual([])
  const { usage_metadata, ...named } = good.extra.metadata
  for (const outputs of [
    { choices: [{ message: { role: 'assistant', content: 'Hello' } }] },
    { message: { role: 'assistant', content: 'Hello' } },
    { role: 'assistant', content: 'Hello' },
  ])
    expect(
      checkLlmRun({ ...good, outputs: { ...outputs, usage_metadata }, extra: { metadata: named } }),
    ).toEqual([])
  expect(checkLlmRun({ ...good, outputs: ['assistant', 'Hello'] })).toEqual([])
  expect(checkLlmRun({ ...good, outputs: {}, error: 'failed' })).toEqual([])
})

test('a converted run has no findings', () => {
  const call = {
    request: {
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
    },
    response: {
      model: 'gpt-4o',
      choices: [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    },
  }
  for (const target of [undefined, 'completions', 'responses', 'anthropic']) {
    const { inputs, outputs, metadata } = convertModelCall({ ...call, target })
    expect(checkLlmRun({ run_type: 'llm', inputs, outputs, extra: { metadata } })).toEqual([])
  }
})

test('each of the four requirements has its finding', () => {
  const requirements = (run: object) => checkLlmRun(run).map(({ requirement }) => requirement)
  expect(requirements({ ...good, run_type: 'chain' })).toEqual(['run type'])
  expect(requirements({ ...good, inputs: { text: 'Hi' } })).toEqual(['message format'])
  expect(requirements({ ...good, outputs: { text: 'Hi' } })).toEqual(['message format'])
  expect(requirements({ ...good, extra: {} })).toEqual([
    'provider and model',
    'provider and model',
    'token counts',
  ])
  expect(requirements(withUsage({ input_tokens: 'three', output_tokens: 1 }))).toEqual(['token counts'])
  expect(requirements({})).toEqual([
    'run type',
    'message format',
    'message format',
    'provider and model',
    'provider and model',
    'token counts',
  ])
  for (const { message } of checkLlmRun({})) expect(message).toMatch(/^(Is|Has) .+\.$/)
})

describe('the messages of a run are checked', () => {
  test.each<[string, object, string[]]>([
    ['an unknown role', { role: 'human', content: 'x' }, ['role']],
    ['an unknown block', { role: 'assistant', content: [{ type: 'hologram' }] }, ['content[0].type']],
    ['a text without text', { role: 'assistant', content: [{ type: 'text' }] }, ['content[0].text']],
    [
      'reasoning with another spelling',
      { role: 'assistant', content: [{ type: 'reasoning', reasoning: 'x' }] },
      ['content[0].text'],
    ],
    [
      'media without a source',
      { role: 'assistant', content: [{ type: 'image', mime_type: 'image/png' }] },
      ['content[0]'],
    ],
    [
      'a call with arguments as text',
      { role: 'assistant', content: [{ type: 'tool_call', name: 'f', args: '{}' }] },
      ['content[0].args'],
    ],
    [
      'a server call without an id',
      { role: 'assistant', content: [{ type: 'server_tool_call', name: 'f', args: {} }] },
      ['content[0].id'],
    ],
    [
      'a server result without a call',
      { role: 'assistant', content: [{ type: 'server_tool_result', tool_call_id: 'x', status: 'done' }] },
      ['content[0].status', 'content[0].tool_call_id'],
    ],
    [
      'a tool_call_id on another role',
      { role: 'assistant', content: 'x', tool_call_id: 'c' },
      ['tool_call_id'],
    ],
    ['a tool message without a tool_call_id', { role: 'tool', content: 'x' }, ['tool_call_id']],
    ['a tool message without a call', { role: 'tool', content: 'x', tool_call_id: 'c' }, ['tool_call_id']],
    [
      'a call without a name',
      { role: 'assistant', content: [{ type: 'tool_call', id: 'c', args: {} }] },
      ['content[0].name'],
    ],
    [
      'a call with an empty name',
      { role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: '', args: {} }] },
      ['content[0].name'],
    ],
    [
      'a call without a name in the shape of OpenAI',
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { arguments: '{}' } }, null] },
      ['tool_calls[0]', 'tool_calls[1]'],
    ],
    ['a message without content', { role: 'assistant' }, ['content']],
  ])('%s is found', (_, message, found) => {
    const run = { ...good, outputs: { messages: [message] } }
    expect(paths(run)).toEqual(found.map((path) => `outputs.messages[0].${path}`))
  })

  test('a call must come before its result', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: 'f', args: {} }] }
    const result = { role: 'tool', tool_call_id: 'c', content: 'x' }
    expect(paths({ ...good, inputs: { messages: [call, result] } })).toEqual([])
    expect(paths({ ...good, inputs: { messages: [result, call] } })).toEqual([
      'inputs.messages[0].tool_call_id',
    ])
  })

  test('a good server call with its result has no findings', () => {
    const call = { type: 'server_tool_call', id: 's', name: 'search', args: {} }
    expect(paths(output(call, { type: 'server_tool_result', tool_call_id: 's', status: 'success' }))).toEqual(
      [],
    )
  })
})

describe('the token counts of a run are checked', () => {
  const at = (path: string) => `extra.metadata.usage_metadata.${path}`

  test('overlapping details are found', () => {
    const details = { input_token_details: { text: 8, cache_read: 6 } }
    expect(paths(withUsage({ input_tokens: 10, output_tokens: 1, ...details }))).toEqual([
      at('input_token_details'),
    ])
  })

  test('cache writes that are counted twice are found', () => {
    const details = { input_token_details: { cache_creation: 6, ephemeral_5m_input_tokens: 6 } }
    expect(paths(withUsage({ input_tokens: 100, output_tokens: 1, ...details }))).toEqual([
      at('input_token_details.cache_creation'),
    ])
  })

  test('a total that is not the sum is found', () => {
    expect(paths(withUsage({ input_tokens: 10, output_tokens: 1, total_tokens: 12 }))).toEqual([
      at('total_tokens'),
    ])
  })

  test('costs without counts have no findings', () => {
    expect(paths(withUsage({ total_cost: 0.1 }))).toEqual([])
  })
})

test('a value that is no run has findings and does not throw', () => {
  const all = paths({})
  for (const run of [null, undefined, 7, 'run', []])
    expect(checkLlmRun(run as never).map(({ path }) => path)).toEqual(all)
})

test.each([
  ['a refusal', { refusal: 'No.' }],
  ['audio', { audio: { id: 'a', data: 'AAAA' } }],
  ['a function call', { function_call: { name: 'f', arguments: '{}' } }],
  ['tool calls', { tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] }],
  ['a custom tool call', { tool_calls: [{ id: 'c', custom: { name: 'f', input: '' } }] }],
  ['a call in the shape of LangChain', { tool_calls: [{ id: 'c', name: 'f', args: {} }] }],
])('content may be null beside %s', (_, fields) => {
  const message = { role: 'assistant', content: null, ...fields }
  expect(checkLlmRun({ ...good, outputs: { choices: [{ message }] } })).toEqual([])
})
