import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { defineAgent, type ModelRequest } from '../../src/index.ts'
import type { Json } from '../kit/events.ts'
import { clientsOf, counting, langgraph, served, WEATHER } from './served.ts'

/** Bodies that clients of OpenAI send: what no agent can use is left out, and nothing of a history is refused. */

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const user = (content: Json): Json => ({ role: 'user', content })

/** The messages that the agent gets. */
function listening() {
  const heard: { messages: readonly Json[]; request: ModelRequest }[] = []
  const agent = defineAgent({
    async run({ input, message, request }) {
      heard.push({ messages: (input as Json).messages, request })
      await message('ok')
    },
  })
  return { agent, heard }
}

const CHATS: Readonly<Record<string, Json>> = {
  'custom tools': { tools: [{ type: 'custom', custom: { name: 'grep', format: { type: 'text' } } }] },
  'flat tools': { tools: [{ type: 'function', ...WEATHER }] },
  'tools of the provider': { tools: [{ type: 'web_search_preview' }, { type: 'mcp', server_label: 'x' }] },
  'tools without a type': { tools: [{ function: WEATHER }] },
  'a list of strings': { messages: [user(['hi', 'there'])] },
  'a video': { messages: [user([{ type: 'video_url', video_url: { url: 'https://example.com/v.mp4' } }])] },
  'parts that nobody knows': {
    messages: [
      user([
        { type: 'text', text: 'hi' },
        { type: 'hologram', x: 1 },
      ]),
    ],
  },
  'a custom call': {
    messages: [
      user('hi'),
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'grep', input: 'x' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
      user('and now?'),
    ],
  },
  'arguments as an object': {
    messages: [
      user('hi'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: { a: 1 } } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'done' }] },
      user('and now?'),
    ],
  },
  'a call in the form before tools': {
    messages: [
      user('hi'),
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'done' },
      user('and now?'),
    ],
  },
  'tools as strings': { tools: ['web_search', null] },
  'a content of one part': { messages: [user({ type: 'text', text: 'hi' })] },
  'settings of other types': { temperature: '0.7', stop: null, logit_bias: {}, response_format: 'json' },
  'thinking of another provider': {
    messages: [
      user('hi'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'yes' },
        ],
        reasoning_content: 'hm',
      },
      user('and now?'),
    ],
  },
}

const ITEMS: Readonly<Record<string, Json>> = {
  'a custom call': { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'grep', input: 'x' },
  'the output of a custom call': { type: 'custom_tool_call_output', call_id: 'c1', output: 'found' },
  'a call with an object': { type: 'function_call', call_id: 'c2', name: 'f', arguments: { a: 1 } },
  'an output with parts': {
    type: 'function_call_output',
    call_id: 'c2',
    output: [
      { type: 'input_text', text: 'done' },
      { type: 'input_image', image_url: PNG },
    ],
  },
  'a search': {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', query: 'x' },
  },
  'a search of files': {
    type: 'file_search_call',
    id: 'fs_1',
    status: 'completed',
    queries: ['x'],
    results: null,
  },
  'a shell': {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'c3',
    status: 'completed',
    action: { type: 'exec', command: ['ls'], env: {} },
  },
  'the output of a shell': { type: 'local_shell_call_output', id: 'c3', output: 'a.txt' },
  'a computer': {
    type: 'computer_call_output',
    call_id: 'c4',
    output: { type: 'computer_screenshot', image_url: PNG },
  },
  'a picture': { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
  'a compaction': { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' },
  reasoning: { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'x' },
  'a tool server': { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'x', tools: [] },
  'a call of a tool server': {
    type: 'mcp_call',
    id: 'mcp_1',
    server_label: 'x',
    name: 'f',
    arguments: '{}',
    output: 'y',
  },
  'something new': { type: 'telepathy_call', id: 'tp_1', arguments: ['x'], output: { a: 1 }, name: 'n' },
  'a string': 'hello',
  'a message of a tool': { role: 'tool', tool_call_id: 'c9', content: 'x' },
  'a message of a role that nobody knows': { type: 'message', role: 'critic', content: 'x' },
  'a picture without a source': { role: 'user', content: [{ type: 'input_image' }] },
  'an output with a type of its own': {
    type: 'function_call_output',
    call_id: 'c9',
    output: { type: 'Feature', id: 1 },
  },
  'an output that is a list of numbers': { type: 'function_call_output', call_id: 'c9', output: [1, null] },
}

describe('a chat completion takes', () => {
  test.each(Object.entries(CHATS))('%s', async (_, more) => {
    const { agent, heard } = listening()
    const { request } = await served({ agent })
    const { status, body } = await request('POST', '/chat/completions', {
      model: 'agent',
      messages: [user('hi')],
      ...more,
    })
    expect([status, body.choices?.[0].message.content]).toEqual([200, 'ok'])
    expect(heard).toHaveLength(1)
  })

  test('calls and results of a history in every form, one for the other', async () => {
    for (const name of ['a custom call', 'arguments as an object', 'a call in the form before tools']) {
      const { agent, heard } = listening()
      const { request } = await served({ agent })
      await request('POST', '/chat/completions', { model: 'agent', ...CHATS[name] })
      const [, called, result] = heard[0]!.messages
      expect(called.tool_calls).toHaveLength(1)
      expect(called.tool_calls[0].args).toEqual(name === 'a custom call' ? { input: 'x' } : { a: 1 })
      expect(result.tool_call_id).toBe(called.tool_calls[0].id)
    }
  })

  test('a video and a list of strings, which the agent gets', async () => {
    const { agent, heard } = listening()
    const { request } = await served({ agent })
    await request('POST', '/chat/completions', { model: 'agent', ...CHATS['a video'] })
    await request('POST', '/chat/completions', { model: 'agent', ...CHATS['a list of strings'] })
    expect(heard.map(({ messages }) => messages[0].content)).toMatchObject([
      [{ type: 'video', url: 'https://example.com/v.mp4' }],
      [
        { type: 'text', text: 'hi' },
        { type: 'text', text: 'there' },
      ],
    ])
  })
})

describe('a response takes', () => {
  test.each(Object.entries(ITEMS))('%s in its history', async (_, item) => {
    const { agent, heard } = listening()
    const { request } = await served({ agent })
    const input = [user('hi'), item, user('and now?')]
    const { status, body } = await request('POST', '/responses', { model: 'agent', input })
    expect([status, body.status]).toEqual([200, 'completed'])
    expect(heard[0]!.messages.at(-1).content).toBe('and now?')
  })

  test('all of them at once, and keeps calls with their results', async () => {
    const { agent, heard } = listening()
    const { request } = await served({ agent })
    const input = [...Object.values(ITEMS), user('and now?')]
    const { status } = await request('POST', '/responses', { model: 'agent', input })
    expect(status).toBe(200)
    const calls = heard[0]!.messages.flatMap(({ tool_calls = [] }) => tool_calls)
    expect(calls.map(({ id, args }: Json) => [id, args])).toEqual([
      ['c1', { input: 'x' }],
      ['c2', { a: 1 }],
    ])
    const results = heard[0]!.messages.filter(({ type }) => type === 'tool')
    expect(results.map((result) => result.tool_call_id)).toEqual(['c1', 'c2', 'c9', 'c9', 'c9'])
    expect(results.slice(-2).map(({ content }) => content)).toEqual(['{"type":"Feature","id":1}', '[1,null]'])
  })

  test('tools of every kind', async () => {
    const { agent, heard } = listening()
    const { openai } = await served({ agent })
    const response = await openai.responses.create({
      model: 'agent',
      input: 'hi',
      tools: [
        { type: 'function', ...WEATHER, strict: false },
        { type: 'custom', name: 'grep' },
        { type: 'web_search' },
        { type: 'local_shell' },
        { type: 'image_generation' },
      ],
    })
    expect(response.output_text).toBe('ok')
    expect(heard[0]!.request.tools).toEqual([{ type: 'function', function: WEATHER }])
  })
})

describe('the request of a client reaches the agent', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const ASKED: ModelRequest = {
    tools: [{ type: 'function', function: WEATHER }],
    toolChoice: { name: 'get_weather' },
    parallelToolCalls: false,
    responseFormat: { type: 'schema', name: 'place', schema, strict: true },
    temperature: 0.2,
    topP: 0.9,
    maxTokens: 100,
    reasoningEffort: 'low',
  }

  test('from both protocols of both versions of the client, in one form', async () => {
    const { agent, heard } = listening()
    const { baseURL } = await served({ agent })
    const about = { model: 'agent', temperature: 0.2, top_p: 0.9, parallel_tool_calls: false }
    for (const [, client] of clientsOf(baseURL)) {
      await client.chat.completions.create({
        ...about,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'function', function: WEATHER }],
        tool_choice: { type: 'function', function: { name: 'get_weather' } },
        response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
        max_completion_tokens: 100,
        reasoning_effort: 'low',
        stop: 'END',
        seed: 7,
      })
      await client.responses.create({
        ...about,
        input: 'hi',
        tools: [{ type: 'function', ...WEATHER, strict: true }],
        tool_choice: { type: 'function', name: 'get_weather' },
        text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
        max_output_tokens: 100,
        reasoning: { effort: 'low' },
      })
    }
    const chat = { ...ASKED, stop: ['END'], seed: 7 }
    expect(heard.map(({ request }) => request)).toEqual([chat, ASKED, chat, ASKED])
  })

  test('is empty where a client asks nothing', async () => {
    const { agent, heard } = listening()
    const { openai } = await served({ agent })
    await openai.responses.create({ model: 'agent', input: 'hi' })
    expect(heard[0]!.request).toEqual({})
  })

  test('is in the config of a graph', async () => {
    const configs: Json[] = []
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', (_, config) => {
        configs.push(config.configurable)
        return { messages: [{ role: 'assistant', content: 'ok' }] }
      })
      .addEdge(START, 'model')
      .compile()
    const { openai } = await served({ graph: langgraph(graph) })
    await openai.responses.create({ model: 'graph', input: 'hi', temperature: 0.2 })
    expect(configs[0].model_request).toEqual({ temperature: 0.2 })
  })
})

test('n above 1 is still refused', async () => {
  const { openai } = await served({ counting })
  const asked = openai.chat.completions.create({ model: 'counting', n: 2, messages: [user('hi')] })
  await expect(asked).rejects.toThrow(OpenAI.BadRequestError)
})
