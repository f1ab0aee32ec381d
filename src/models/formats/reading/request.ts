import type { ContentBlock, Message, Role } from '../../../messages/index.ts'
import { byWireName, collect, type Fields, fieldsOf, listOf, manyOf, toSnake, toText } from '../fields.ts'
import type { ModelParams, ModelRequest } from '../format.ts'
import { type Choice, choiceOf, createDraft } from './draft.ts'

/** The names of the parameters at all providers, in snake_case. */
const PARAMS = byWireName<keyof ModelParams>({
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
 * Builds a request: fields that are parameters go to `params`, all others to `extras`.
 *
 * @param known The fields that were read as messages.
 * @param list The value that the messages were read from. If it is not a list, an issue at `path` says so.
 */
export function toRequest(
  { tools, ...request }: Fields,
  known: ReadonlySet<string> | undefined,
  messages: readonly Message[],
  list: unknown,
  path = 'messages',
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

/** Reads content that is a list of parts, or one part. */
export const contentOf = (content: unknown, read: (part: unknown) => ContentBlock): ContentBlock[] =>
  manyOf(content).map((part) => read(part))

export const systemMessages = (content: unknown, read: (part: unknown) => ContentBlock): Message[] =>
  content ? [{ role: 'system', content: contentOf(content, read) }] : []

export const toToolMessage = (
  toolCallId: unknown,
  failed: unknown,
  content: ContentBlock[],
  extras: Fields | undefined,
  name?: unknown,
): Message => ({
  role: 'tool',
  ...(name ? { name: toText(name) } : undefined),
  content,
  toolCallId: toText(toolCallId),
  status: failed ? 'error' : 'success',
  ...(extras && { extras }),
})

const ROLES = byWireName<Role>({
  system: 'system developer',
  user: 'user',
  assistant: 'assistant model',
  tool: 'tool function',
  reasoning: 'reasoning',
})

/**
 * Reads a message of the input with the function that reads the parts of an answer.
 *
 * @param known The fields of the message that are read elsewhere. All others are extras.
 */
export function readInputMessage(
  value: unknown,
  readParts: (choice: Choice, message: Fields) => void,
  known: ReadonlySet<string>,
  about: { readonly name?: unknown; readonly toolCallId?: unknown; readonly extras?: Fields | undefined },
): Message {
  const message = fieldsOf(value)
  const choice = choiceOf(createDraft(true))
  readParts(choice, value === message ? message : { content: value })
  const { name, toolCallId } = about
  const extras = collect(about.extras ? { ...about.extras } : choice.metadata, message, known)
  return {
    role: roleOf(message.role),
    ...(name ? { name: toText(name) } : undefined),
    content: choice.content,
    ...(toolCallId ? { toolCallId: toText(toolCallId) } : undefined),
    ...(extras && { extras }),
  }
}

export const roleOf = (role: unknown): Role => ROLES.get(role) ?? 'user'

/**
 * Reads the parts of one turn. The result of a tool becomes a message of its own and splits the turn.
 *
 * @param about The fields of the message apart from its content.
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
