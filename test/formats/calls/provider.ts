import { createServer, type Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { json } from 'node:stream/consumers'
import { openServer } from '../../kit/listen.ts'
import { eventFrame } from '../event-frame.ts'

/** What a model says: a text, or a call of a tool. */
export type Said = string | { readonly name: string; readonly args: object }

type Body = Record<string, unknown>

/** The stream of an answer of each API, as it stands on the wire. `at` counts the answers. */
type Render = (said: Said, at: number) => Uint8Array | string

const sse = (events: readonly object[]) =>
  events
    .map((event) => {
      const { type } = event as { type?: string }
      return `${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
    })
    .join('')

const isText = (said: Said): said is string => typeof said === 'string'

export const chatStream: Render = (said, at) => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: `chatcmpl-${at}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const body = isText(said)
    ? [chunk({ role: 'assistant', content: said }), chunk({}, 'stop')]
    : [
        chunk({
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              index: 0,
              id: `call_${at}`,
              type: 'function',
              function: { name: said.name, arguments: JSON.stringify(said.args) },
            },
          ],
        }),
        chunk({}, 'tool_calls'),
      ]
  return `${sse([...body, { ...chunk({}), choices: [], usage }])}data: [DONE]\n\n`
}

export const responsesStream: Render = (said, at) => {
  const ids = { item_id: isText(said) ? `msg_${at}` : `fc_${at}`, output_index: 0 }
  const text = isText(said) ? { type: 'output_text', text: said, annotations: [] } : undefined
  const item = isText(said)
    ? { type: 'message', id: ids.item_id, role: 'assistant', status: 'completed', content: [text] }
    : {
        type: 'function_call',
        id: ids.item_id,
        call_id: `call_${at}`,
        name: said.name,
        arguments: JSON.stringify(said.args),
        status: 'completed',
      }
  const usage = {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 7,
  }
  const response = { id: `resp_${at}`, object: 'response', created_at: 1, model: 'm', error: null }
  const started = isText(said) ? { ...item, content: [], status: 'in_progress' } : { ...item, arguments: '' }
  const inside = isText(said)
    ? [
        { type: 'response.content_part.added', ...ids, content_index: 0, part: { ...text, text: '' } },
        { type: 'response.output_text.delta', ...ids, content_index: 0, delta: said, logprobs: [] },
        { type: 'response.output_text.done', ...ids, content_index: 0, text: said, logprobs: [] },
        { type: 'response.content_part.done', ...ids, content_index: 0, part: text },
      ]
    : [
        { type: 'response.function_call_arguments.delta', ...ids, delta: JSON.stringify(said.args) },
        { type: 'response.function_call_arguments.done', ...ids, arguments: JSON.stringify(said.args) },
      ]
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: started },
    ...inside,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ]
  return sse(events.map((event, sequence_number) => ({ ...event, sequence_number })))
}

export const anthropicStream: Render = (said, at) => {
  const message = {
    id: `msg_${at}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  }
  const [block, delta] = isText(said)
    ? [
        { type: 'text', text: '' },
        { type: 'text_delta', text: said },
      ]
    : [
        { type: 'tool_use', id: `toolu_${at}`, name: said.name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(said.args) },
      ]
  const stop = { stop_reason: isText(said) ? 'end_turn' : 'tool_use', stop_sequence: null }
  return sse([
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ])
}

export const geminiStream: Render = (said, at) => {
  const part = isText(said)
    ? { text: said }
    : { functionCall: { name: said.name, args: said.args }, thoughtSignature: 'c2ln' }
  const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 }
  const body = { candidates: [candidate], usageMetadata, modelVersion: 'gemini-3-pro', responseId: `r${at}` }
  return `data: ${JSON.stringify(body)}\r\n\r\n`
}

export const bedrockStream: Render = (said, at) => {
  const place = { contentBlockIndex: 0 }
  const start = isText(said)
    ? []
    : [
        [
          'contentBlockStart',
          { ...place, start: { toolUse: { toolUseId: `tooluse_${at}`, name: said.name } } },
        ],
      ]
  const delta = isText(said) ? { text: said } : { toolUse: { input: JSON.stringify(said.args) } }
  const events = [
    ['messageStart', { role: 'assistant' }],
    ...start,
    ['contentBlockDelta', { ...place, delta }],
    ['contentBlockStop', place],
    ['messageStop', { stopReason: isText(said) ? 'end_turn' : 'tool_use' }],
    ['metadata', { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 }, metrics: { latencyMs: 1 } }],
  ] as [string, object][]
  return Buffer.concat(events.map(([type, payload]) => eventFrame(type, JSON.stringify(payload))))
}

export const ollamaStream: Render = (said) => {
  const about = { model: 'm', created_at: '2026-01-01T00:00:00Z' }
  const message = isText(said)
    ? { role: 'assistant', content: said }
    : {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: said.name, arguments: said.args } }],
      }
  const end = { done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 4 }
  return [
    { ...about, message, done: false },
    { ...about, message: { role: 'assistant', content: '' }, ...end },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
}

const TYPES = new Map<Render, string>([
  [bedrockStream, 'application/vnd.amazon.eventstream'],
  [ollamaStream, 'application/x-ndjson'],
])

/** A provider on 127.0.0.1 that says one thing after the other. An error is the status and the body of a refusal. */
export async function openProvider(
  render: Render,
  said: readonly (Said | { readonly status: number; readonly body: object })[],
  { http2 = false }: { readonly http2?: boolean } = {},
) {
  const asked: Body[] = []
  const create = (http2 ? createHttp2Server : createServer) as (listener: never) => Server
  const server = create((async (request: never, response: { writeHead: never; end(body: unknown): void }) => {
    const { writeHead } = response as { writeHead(status: number, headers: object): void }
    const at = asked.push((await json(request)) as Body) - 1
    const one = said[at] ?? 'There is nothing left to say.'
    const [status, type, body] =
      typeof one === 'object' && 'status' in one
        ? [one.status, 'application/json', JSON.stringify(one.body)]
        : [200, TYPES.get(render) ?? 'text/event-stream', render(one, at)]
    writeHead.call(response, status, { 'content-type': type })
    response.end(body)
  }) as never)
  const { origin, close } = await openServer(server)
  return { origin, asked, close }
}
