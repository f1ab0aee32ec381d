/**
 * Stands for OpenAI and Anthropic where there is no key: it streams what a script says, in the form in which they do.
 *
 *     npx tsx examples/offline/provider.ts
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { next, type Reply } from './script.ts'

interface OpenAIRequest {
  readonly messages: readonly OpenAIMessage[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

interface OpenAIMessage {
  readonly role: string
  readonly content: unknown
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[]
  readonly tool_call_id?: string
}

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

/** The text of a content, which is a string or a list of blocks. */
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (content as readonly { text?: string }[]).map(({ text }) => text).join('')

/** OpenAI Chat Completions: unnamed events, one choice, and `[DONE]`. */
async function writeOpenAI(response: ServerResponse, { messages, tools = [] }: OpenAIRequest): Promise<void> {
  const start = messages.findLastIndex(({ role }) => role === 'user')
  const since = messages.slice(start)
  const calls = since.flatMap((message) => message.tool_calls ?? [])
  const nameOf = (id?: string) => calls.find((call) => call.id === id)?.function.name
  const results = since.filter(({ role }) => role === 'tool')
  const reply = next({
    said: textOf(messages[start]?.content),
    results: new Map(results.map((result) => [nameOf(result.tool_call_id), textOf(result.content)])),
    tools: tools.map((tool) => tool.function.name),
  })
  const send = (delta: object, finish_reason: string | null = null) =>
    write(
      response,
      `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    )
  await send({ role: 'assistant', content: '' })
  for (const content of wordsOf(reply.text)) await send({ content })
  for (const [index, { name, args }] of reply.calls.entries()) {
    const id = idOf('call')
    await send({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
    for (const part of halvesOf(args)) await send({ tool_calls: [{ index, function: { arguments: part } }] })
  }
  await send({}, reply.calls.length > 0 ? 'tool_calls' : 'stop')
  response.end('data: [DONE]\n\n')
}

const CHUNK = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'scripted' }

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

const wordsOf = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? []

function halvesOf(args: Reply['calls'][number]['args']): readonly string[] {
  const text = JSON.stringify(args)
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

let ids = 0
const idOf = (kind: string): string => `${kind}_${++ids}`

/** Writes a piece, and waits a moment, so that answers come word by word. */
async function write(response: ServerResponse, piece: string): Promise<void> {
  response.write(piece)
  await new Promise((resolve) => setTimeout(resolve, 5))
}

const server = createServer(async (request, response) => {
  const write = { '/v1/chat/completions': writeOpenAI, '/v1/messages': writeAnthropic }[request.url ?? '']
  if (!write) return response.writeHead(404).end()
  const body = await json(request)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  await write(response, body as never)
})
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  console.log('export OPENAI_API_KEY=none ANTHROPIC_API_KEY=none')
  console.log(`export OPENAI_BASE_URL=${origin}/v1 ANTHROPIC_BASE_URL=${origin}`)
})
process.once('SIGTERM', () => process.exit())
