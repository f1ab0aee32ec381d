import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/* What providers answer, as it stands on the wire: whole, and as it is streamed. */

const ABOUT = { id: 'chatcmpl-1', created: 1, model: 'gpt' }
const CHAT_USAGE = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
}
const CALLS = [
  { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
  { id: 'b', type: 'function', function: { name: 'g', arguments: '{"y":2}' } },
]
export const CHAT = {
  ...ABOUT,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Let me see', refusal: null, tool_calls: CALLS },
      finish_reason: 'tool_calls',
      logprobs: null,
    },
  ],
  usage: CHAT_USAGE,
}
const CHAT_CHUNKS = [
  { delta: { role: 'assistant', content: '', refusal: null } },
  { delta: { content: 'Let me ' } },
  { delta: { content: 'see' } },
  ...CALLS.flatMap((call, index) => [
    { delta: { tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] } },
    { delta: { tool_calls: [{ index, function: { arguments: call.function.arguments.slice(0, 3) } }] } },
    { delta: { tool_calls: [{ index, function: { arguments: call.function.arguments.slice(3) } }] } },
  ]),
  { delta: {}, finish_reason: 'tool_calls' },
].map((choice) => ({
  ...ABOUT,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, finish_reason: null, logprobs: null, ...choice }],
  usage: null,
}))
export const CHAT_STREAM = [
  ...CHAT_CHUNKS,
  { ...ABOUT, object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE },
]

const MESSAGE_ITEM = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const CALL_ITEM = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'a',
  name: 'f',
  arguments: '{"x":1}',
  status: 'completed',
}
export const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'gpt',
  status: 'completed',
  output: [MESSAGE_ITEM, CALL_ITEM],
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 15,
  },
}
const started = { ...RESPONSE, status: 'in_progress', output: [], usage: null }
export const RESPONSE_EVENTS = [
  { type: 'response.created', response: started },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...MESSAGE_ITEM, status: 'in_progress', content: [] },
  },
  {
    type: 'response.content_part.added',
    output_index: 0,
    item_id: 'msg_1',
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  {
    type: 'response.output_text.delta',
    output_index: 0,
    item_id: 'msg_1',
    content_index: 0,
    delta: 'Hel',
    logprobs: [],
  },
  {
    type: 'response.output_text.delta',
    output_index: 0,
    item_id: 'msg_1',
    content_index: 0,
    delta: 'lo',
    logprobs: [],
  },
  { type: 'response.output_item.done', output_index: 0, item: MESSAGE_ITEM },
  { type: 'response.output_item.added', output_index: 1, item: { ...CALL_ITEM, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_1', delta: '{"x":1}' },
  { type: 'response.output_item.done', output_index: 1, item: CALL_ITEM },
  { type: 'response.completed', response: RESPONSE },
].map((event, sequence_number) => ({ ...event, sequence_number }))

const THOUGHT_ITEM = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Hmm' }],
}
const SEARCH_ITEM = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'ships' },
}
const SHELL_ITEM = {
  type: 'local_shell_call',
  id: 'lsh_1',
  call_id: 'b',
  status: 'completed',
  action: { type: 'exec', command: ['ls'], env: {} },
}
const TOOLS = [THOUGHT_ITEM, SEARCH_ITEM, SHELL_ITEM, MESSAGE_ITEM]
export const TOOLS_RESPONSE = { ...RESPONSE, output: TOOLS }
export const TOOLS_EVENTS = [
  { type: 'response.created', response: started },
  ...TOOLS.flatMap((item, output_index) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, ...('summary' in item && { summary: [] }), ...('content' in item && { content: [] }) },
    },
    ...('summary' in item
      ? [{ type: 'response.reasoning_summary_text.delta', output_index, summary_index: 0, delta: 'Hmm' }]
      : []),
    ...('content' in item
      ? [{ type: 'response.output_text.delta', output_index, content_index: 0, delta: 'Hello' }]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ]),
  { type: 'response.completed', response: TOOLS_RESPONSE },
].map((event, sequence_number) => ({ ...event, sequence_number }))

const CONTENT = [
  { type: 'thinking', thinking: 'Hmm', signature: 'sig' },
  { type: 'text', text: 'Hello', citations: null },
  { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
]
export const CLAUDE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: CONTENT,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
    output_tokens: 5,
  },
}
const DELTAS = [
  [
    { type: 'thinking_delta', thinking: 'Hm' },
    { type: 'thinking_delta', thinking: 'm' },
    { type: 'signature_delta', signature: 'sig' },
  ],
  [
    { type: 'text_delta', text: 'Hel' },
    { type: 'text_delta', text: 'lo' },
  ],
  [
    { type: 'input_json_delta', partial_json: '{"x"' },
    { type: 'input_json_delta', partial_json: ':1}' },
  ],
]
const STARTS = [
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'text', text: '', citations: null },
  { type: 'tool_use', id: 'a', name: 'f', input: {} },
]
export const CLAUDE_EVENTS = [
  {
    type: 'message_start',
    message: { ...CLAUDE, content: [], stop_reason: null, usage: { ...CLAUDE.usage, output_tokens: 1 } },
  },
  { type: 'ping' },
  ...STARTS.flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    ...DELTAS[index]!.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
]

/** A local server that answers each path with a recorded value: a list as server-sent events, an object as JSON. */
export async function createReplay() {
  const answers = new Map<string, readonly object[] | object>()

  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname
      const answer = answers.get(path)
      if (!answer) response.writeHead(404).end()
      else if (!Array.isArray(answer))
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      else {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const chunk of answer as { type?: string }[]) {
          if (chunk.type) response.write(`event: ${chunk.type}\n`)
          response.write(`data: ${JSON.stringify(chunk)}\n\n`)
        }
        response.end(path.includes('chat') ? 'data: [DONE]\n\n' : undefined)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    answers,
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
