import { setTimeout as pause } from 'node:timers/promises'
import { next } from './script.ts'

export interface OpenAIRequest {
  readonly messages: readonly OpenAIMessage[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

interface OpenAIMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[]
  readonly tool_call_id?: string
}

/** The script's next reply, in the chunks of OpenAI Chat Completions, word by word. */
export async function* chunksOf({ messages, tools = [] }: OpenAIRequest): AsyncGenerator<object> {
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
  const chunk = async (delta: object, finish_reason: string | null = null) => {
    await pause(5) // so that answers arrive word by word
    return { ...CHUNK, choices: [{ index: 0, delta, finish_reason }] }
  }
  yield chunk({ role: 'assistant', content: '' })
  for (const content of wordsOf(reply.text)) yield chunk({ content })
  for (const [index, { name, args }] of reply.calls.entries()) {
    const id = idOf('call')
    yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
    for (const part of halvesOf(args)) yield chunk({ tool_calls: [{ index, function: { arguments: part } }] })
  }
  yield chunk({}, reply.calls.length > 0 ? 'tool_calls' : 'stop')
}

const CHUNK = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'scripted' }

/** The text of a content, which is a string or a list of blocks. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (content as readonly { text?: string }[]).map(({ text }) => text).join('')

export const wordsOf = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? []

/** A call's arguments as JSON, in two pieces. */
export function halvesOf(args: object): readonly string[] {
  const text = JSON.stringify(args)
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

export const idOf = (kind: string): string => `${kind}_${crypto.randomUUID()}`
