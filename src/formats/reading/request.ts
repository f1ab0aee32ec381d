import type { ContentBlock, Message, Role } from '../../messages/index.ts'
import type { ModelParams, ModelRequest } from '../format.ts'
import { collect, type Fields, listOf, meanings, toSnake } from './fields.ts'

/** What the providers call the parameters, in snake_case. */
const PARAMS = meanings<keyof ModelParams>({
  model: 'model model_id',
  stop: 'stop stop_sequences',
  stream: 'stream',
  temperature: 'temperature',
  topP: 'top_p p',
  topK: 'top_k k',
  maxTokens: 'max_tokens max_completion_tokens max_output_tokens num_predict',
  seed: 'seed random_seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  choiceCount: 'n candidate_count',
})

/**
 * A request put together.
 *
 * @param known The fields that hold the messages.
 * @param list What the messages were read from, the field `path`.
 */
export function toRequest(
  { tools, ...request }: Fields,
  known: ReadonlySet<string>,
  messages: readonly Message[],
  list: unknown,
  path: string,
): ModelRequest {
  const params: Record<string, unknown> = {}
  const extras: Record<string, unknown> = {}
  const given = collect({}, request, known)!
  for (const key in given) {
    const value = given[key]
    const name = PARAMS.get(toSnake(key))
    if (name === 'stop') params[name] = Array.isArray(value) ? value : [value]
    else (name && typeof value !== 'object' ? params : extras)[name ?? key] = value
  }
  return {
    messages,
    ...(tools ? { tools: listOf(tools) } : undefined),
    params,
    extras,
    ...(!Array.isArray(list) && { issues: [{ path, message: 'Expected a list.' }] }),
  }
}

/** Content as a list of blocks or parts, or as one. */
export const contentOf = (content: unknown, read: (part: unknown) => ContentBlock): ContentBlock[] =>
  (Array.isArray(content) ? content : content ? [content] : []).map((part) => read(part))

const ROLES = meanings<Role>({
  system: 'system developer',
  user: 'user',
  assistant: 'assistant model',
  tool: 'tool function',
  reasoning: 'reasoning',
})

export const roleOf = (role: unknown): Role => ROLES.get(role) ?? 'user'

/**
 * The messages of one turn. Results of tools may stand among its parts: each is a message of its own.
 *
 * @param about All of a message but its content.
 */
export function toMessages(
  about: Omit<Message, 'content'>,
  parts: readonly unknown[],
  read: (part: unknown) => ContentBlock | Message,
): Message[] {
  const messages: Message[] = []
  let content: ContentBlock[] | undefined
  for (const part of parts) {
    const found = read(part)
    if ('role' in found) {
      content = undefined
      messages.push(found)
    } else {
      if (!content) messages.push({ ...about, content: (content = []) })
      content.push(found)
    }
  }
  return messages
}
