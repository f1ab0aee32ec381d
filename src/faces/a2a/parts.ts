import type { Agent } from '../../agents/agent.ts'
import { splitDataUrl } from '../../messages/content.ts'
import {
  type ContentBlock,
  decodeMessage,
  encodeBlock,
  type MediaBlock,
  type MediaType,
  type Message,
} from '../../messages/index.ts'
import { isSummary } from '../../messages/message.ts'
import { type Fields, filterFields, isRecord, itemsOf } from '../../messages/record.ts'
import { A2AError } from './errors.ts'
import type { A2AMessage, Part } from './model.ts'

/** The parts of an agent's output. Reasoning and tool calls are not sent to other agents. */
export const partsOf = (content: readonly ContentBlock[]): readonly Part[] => content.flatMap(partOf)

export function partOf(block: ContentBlock): readonly Part[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ kind: 'text', text: block.text }]
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return mediaPart(block)
    case 'nonStandard':
      return otherPart(block.value)
    default:
      return []
  }
}

function mediaPart({ base64, url, mimeType, extras }: MediaBlock): readonly Part[] {
  const about = {
    ...(typeof extras?.filename === 'string' && { name: extras.filename }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
  }
  if (base64 !== undefined) return [{ kind: 'bytes', bytes: base64, ...about }]
  return url === undefined ? [] : [{ kind: 'uri', uri: url, ...about }]
}

/** Data that an agent returns directly, and images in the format of OpenAI's chat completions. */
function otherPart(value: unknown): readonly Part[] {
  const { type, data, image_url } = Object(value) as Readonly<Record<string, unknown>>
  if (type === 'data') return [{ kind: 'data', data: data ?? null }]
  const url = typeof image_url === 'string' ? image_url : (Object(image_url) as { url?: unknown }).url
  if (type !== 'image_url' || typeof url !== 'string') return []
  const inline = splitDataUrl(url)
  if (!inline) return [{ kind: 'uri', uri: url }]
  const { base64: bytes, mimeType: mediaType } = inline
  return [{ kind: 'bytes', bytes, ...(mediaType !== undefined && { mediaType }) }]
}

/** The messages of a state in their stored form. */
export const messagesIn = ({ messages }: Readonly<Record<string, unknown>>): readonly unknown[] =>
  itemsOf(messages)

/** Messages in the normal form. */
export const decoded = (messages: readonly unknown[]): readonly Message[] =>
  messages.flatMap((message) => decodeMessage(message) ?? [])

/** A turn of the conversation as other agents see it. Empty if they should not see it. */
export function turnOf(
  message: Message,
  place: { readonly contextId: string; readonly taskId?: string },
): readonly A2AMessage[] {
  const { id, role, content } = message
  if ((role !== 'user' && role !== 'assistant') || isSummary(message)) return []
  const parts = partsOf(content)
  if (parts.length === 0) return []
  return [{ messageId: id ?? '', role: role === 'user' ? 'user' : 'agent', parts, ...place }]
}

/**
 * Converts a message to an agent's input. Text and files become a message with the same id, data objects are
 * merged into the input, limited to the agent's input keys. Throws `content_type_not_supported` for data that
 * cannot be part of an input, and `invalid_params` for messages in it that are not from the user.
 */
export function inputOf(message: A2AMessage, { inputKeys = [] }: Pick<Agent, 'inputKeys'>): Fields {
  const isTaken = (key: string) => inputKeys === '*' || inputKeys.includes(key)
  const { messages, ...data } = filterFields(mergedData(message), isTaken)
  const own = contentOf(message)
  if (messages === undefined && !own) return data
  const before = messages === undefined ? [] : [messages].flat().map(userMessage)
  return { ...data, messages: own ? [...before, own] : before }
}

/** Converts a message in data to a user message. Other fields are dropped. */
function userMessage(value: unknown): Fields {
  if (typeof value === 'string') return { type: 'human', content: value }
  const { type, role, content, id } = Object(value) as Fields
  const names = [type, role].filter((name) => name !== undefined)
  const isUsers = names.length > 0 && names.every((name) => name === 'human' || name === 'user')
  if (isUsers && content !== undefined)
    return { type: 'human', content, ...(typeof id === 'string' && { id }) }
  throw new A2AError(
    'invalid_params',
    'message.parts: messages in data must be user messages, such as { role: "user", content: "Hello" }.',
  )
}

/** The value of an answer that is not only text: all data, together with the content. */
export function dataAnswer(message: A2AMessage): unknown {
  const data = mergedData(message)
  const content = contentOf(message)?.content
  if (content === undefined) return data
  return Object.keys(data).length === 0 ? content : { ...data, content }
}

function mergedData({ parts }: A2AMessage): Fields {
  const merged: Record<string, unknown> = {}
  for (const [index, part] of parts.entries())
    if (part.kind === 'data')
      // Assigning this key would change the prototype of the input.
      for (const [key, value] of Object.entries(objectOf(part, index)))
        if (key !== '__proto__') merged[key] = value
  return merged
}

/** Text and files as a message. Undefined if there are none. */
function contentOf({ messageId, role, parts }: A2AMessage) {
  const blocks = parts.flatMap((part) => (part.kind === 'data' ? [] : [encodeBlock(blockOf(part))]))
  if (blocks.length === 0) return undefined
  const content = blocks.length === 1 && blocks[0]!.type === 'text' ? blocks[0]!.text : blocks
  return { type: role === 'user' ? 'human' : 'ai', id: messageId, content }
}

/** Whether a message requires an agent with messages in its state. */
export const hasContent = ({ parts }: A2AMessage): boolean => parts.some(({ kind }) => kind !== 'data')

/** The text of a message, with its parts on separate lines. */
export const textOf = ({ parts }: A2AMessage): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')

function objectOf({ data }: Extract<Part, { kind: 'data' }>, index: number): Fields {
  if (isRecord(data)) return data
  throw new A2AError(
    'content_type_not_supported',
    `message.parts[${index}].data: expected an object, whose keys become the agent's input.`,
  )
}

/** A part as the content block of an agent's message. */
export function blockOf(part: Part): ContentBlock {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  if (part.kind === 'data') return { type: 'nonStandard', value: { type: 'data', data: part.data } }
  const { name, mediaType } = part
  return {
    type: mediaKind(mediaType),
    ...(part.kind === 'bytes' ? { base64: part.bytes } : { url: part.uri }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(name !== undefined && { extras: { filename: name } }),
  }
}

const MEDIA: readonly MediaType[] = ['image', 'audio', 'video']

const mediaKind = (mediaType = ''): MediaType =>
  MEDIA.find((kind) => mediaType.startsWith(`${kind}/`)) ?? 'file'
