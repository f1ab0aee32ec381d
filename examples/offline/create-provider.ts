/**
 * Replaces OpenAI and Anthropic if there is no API key: it streams the replies of a script in their formats.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { chunksOf, halvesOf, idOf, type OpenAIRequest, textOf, wordsOf } from './openai.ts'
import { next } from './script.ts'

interface AnthropicRequest {
  readonly messages: readonly {
    readonly role: string
    readonly content: string | readonly AnthropicBlock[]
  }[]
  readonly tools?: readonly { readonly name: string }[]
}

interface AnthropicBlock {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly text?: string
  readonly tool_use_id?: string
  readonly content?: unknown
}

/** OpenAI Chat Completions: unnamed events, and `[DONE]`. */
async function writeOpenAI(response: ServerResponse, request: OpenAIRequest): Promise<void> {
  for await (const chunk of chunksOf(request)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.end('data: [DONE]\n\n')
}

/** Anthropic Messages: named events, and a block for each text and call. */
async function writeAnthropic(response: ServerResponse, request: AnthropicRequest): Promise<void> {
  const { messages, tools = [] } = request
  const blocks = messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => ({
      role,
      ...block,
    })),
  )
  const start = blocks.findLastIndex(({ role, type }) => role === 'user' && type === 'text')
  const since: readonly AnthropicBlock[] = blocks.slice(start)
  const nameOf = (id?: string) => since.find((block) => block.type === 'tool_use' && block.id === id)?.name
  const results = since.filter(({ type }) => type === 'tool_result')
  const reply = next({
    said: blocks[start]?.text ?? '',
    results: new Map(results.map((result) => [nameOf(result.tool_use_id), textOf(result.content)])),
    tools: tools.map(({ name }) => name),
  })
  const send = (type: string, fields: object = {}) =>
    write(response, `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  const block = async (index: number, content_block: object, deltas: readonly object[]) => {
    await send('content_block_start', { index, content_block })
    for (const delta of deltas) await send('content_block_delta', { index, delta })
    await send('content_block_stop', { index })
  }
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = {
    id: idOf('msg'),
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    stop_reason: null,
    usage,
  }
  await send('message_start', { message })
  const texts = wordsOf(reply.text).map((text) => ({ type: 'text_delta', text }))
  if (texts.length > 0) await block(0, { type: 'text', text: '' }, texts)
  for (const [index, { name, args }] of reply.calls.entries()) {
    const use = { type: 'tool_use', id: idOf('toolu'), name, input: {} }
    const deltas = halvesOf(args).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    await block(index + Math.min(texts.length, 1), use, deltas)
  }
  const stop_reason = reply.calls.length > 0 ? 'tool_use' : 'end_turn'
  await send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } })
  await send('message_stop')
  response.end()
}

/** Writes a piece and waits briefly, so that answers arrive word by word. */
async function write(response: ServerResponse, piece: string): Promise<void> {
  response.write(piece)
  await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The provider as a server, which does not listen yet. */
export const createProvider = (): Server =>
  createServer(async (request, response) => {
    const write = { '/v1/chat/completions': writeOpenAI, '/v1/messages': writeAnthropic }[request.url ?? '']
    if (!write) return response.writeHead(404).end()
    const body = await json(request)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await write(response, body as never)
  })
