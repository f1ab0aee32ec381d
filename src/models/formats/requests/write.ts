import type { ContentBlock, MediaBlock, MediaType, Message, TextBlock } from '../../../messages/index.ts'
import { type Fields, fieldsOf } from '../fields.ts'
import { mimeTypeOf } from './media.ts'
import { OPENING, type PreparedMessage } from './thread.ts'

export interface WriteOptions {
  /**
   * Media that the model takes although not every model behind this API does. The AI SDK and servers that speak
   * Chat Completions have it; the others know what their models take.
   */
  readonly media?: readonly MediaType[]
}

/**
 * Writes a thread as the input of a call. Whatever happened in the thread, the API takes it: calls have results,
 * and what the API would refuse is changed or left out.
 */
export type WriteRequest = (messages: readonly Message[], options?: WriteOptions) => Record<string, unknown>

/** The texts of all instructions, for an API that has a place of its own for them, and the other messages. */
export function splitSystem(messages: readonly PreparedMessage[]) {
  const system = messages.flatMap(({ role, content }): readonly TextBlock[] =>
    role === 'system' ? content.filter((block) => block.type === 'text') : [],
  )
  return { system, turns: messages.filter(({ role }) => role !== 'system') }
}

/** The thread with something that the user says first, which many APIs ask for. */
export function startWithUser(messages: readonly PreparedMessage[]): readonly PreparedMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  if (messages[first]?.role !== 'assistant') return messages
  const opening: PreparedMessage = { role: 'user', content: [{ type: 'text', text: OPENING }] }
  return [...messages.slice(0, first), opening, ...messages.slice(first)]
}

/** Writes messages so that two speakers take turns: consecutive messages of one become one. */
export function mergeTurns<Content>(
  messages: readonly PreparedMessage[],
  write: (message: PreparedMessage) => { readonly role: string; readonly content: readonly Content[] },
): { readonly role: string; readonly content: Content[] }[] {
  const turns: { readonly role: string; readonly content: Content[] }[] = []
  for (const message of startWithUser(messages)) {
    const { role, content } = write(message)
    const last = turns.at(-1)
    if (last?.role === role) for (const part of content) last.content.push(part)
    else turns.push({ role, content: [...content] })
  }
  return turns
}

/**
 * Claude refuses an answer that ends with a thought, as one does that was stopped while the model was thinking,
 * and a thread whose last answer ends with white space.
 */
export function withoutLastThoughts(turns: readonly PreparedMessage[]): PreparedMessage[] {
  const kept: PreparedMessage[] = []
  for (const turn of [...turns].reverse()) {
    const isLast = turn.role === 'assistant' && kept.at(-1)?.role !== 'assistant'
    const end = isLast ? turn.content.findLastIndex(({ type }) => type !== 'reasoning') + 1 : undefined
    const content = turn.content.slice(0, end)
    if (content.length > 0 || turn.role === 'tool') kept.push({ ...turn, content })
  }
  kept.reverse()
  const last = kept.at(-1)
  const text = last?.content.at(-1)
  if (last?.role !== 'assistant' || text?.type !== 'text') return kept
  return [
    ...kept.slice(0, -1),
    { ...last, content: [...last.content.slice(0, -1), { ...text, text: text.text.trimEnd() }] },
  ]
}

export const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Whether it can be a signature of Gemini. */
export const isGeminiSignature = (value: unknown): value is string =>
  isFilled(value) && /^[\w+/-]+={0,2}$/.test(value)

/** The texts of a message as one text, each in a paragraph of its own. */
export const joinTexts = (message: Pick<Message, 'content'>): string => textsOf(message, '\n\n')

/** The texts of a message as one text. An answer with citations is in pieces. */
export const textsOf = ({ content }: Pick<Message, 'content'>, between = ''): string =>
  content
    .filter((block) => block.type === 'text')
    .map(({ text }) => text)
    .join(between)

/** The data URL of a file, with the type that the file has. */
export const dataUrlOf = (media: MediaBlock): string | undefined =>
  media.base64 === undefined
    ? undefined
    : `data:${mimeTypeOf(media) ?? 'application/octet-stream'};base64,${media.base64}`

/** What a result says that has no text, for an API that wants one. */
export const NO_OUTPUT = 'There is no output.'

/** A thought that asks for no proof, which models have that anyone can run. */
export const isPlainThought = (block: ContentBlock): boolean =>
  block.type === 'reasoning' && block.text.trim() !== '' && block.id === undefined && !block.extras

/** The thoughts of a message as one text. */
export function thoughtsOf({ content }: Pick<Message, 'content'>): string | undefined {
  const thoughts = content.filter((block) => block.type === 'reasoning')
  return thoughts.length > 0 ? thoughts.map(({ text }) => text).join('\n\n') : undefined
}

/** What a provider gave with a block, or a client for it, through the AI SDK. */
export function sdkOptionsOf({ extras = {} }: Pick<ContentBlock, 'extras'>, provider: string): Fields {
  return {
    ...fieldsOf(fieldsOf(extras.providerMetadata)[provider]),
    ...fieldsOf(fieldsOf(extras.providerOptions)[provider]),
  }
}

/** The text of content that is one text. */
export function onlyText(content: readonly ContentBlock[]): string | undefined {
  const [only] = content
  return content.length === 1 && only?.type === 'text' ? only.text : undefined
}
