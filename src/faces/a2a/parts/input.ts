import type { Agent } from '../../../agents/agent.ts'
import { mediaTypeOf } from '../../../messages/content.ts'
import { type ContentBlock, encodeBlock } from '../../../messages/index.ts'
import { type Fields, filterFields, isRecord } from '../../../messages/record.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, Part } from '../model.ts'

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
    type: mediaTypeOf(mediaType),
    ...(part.kind === 'bytes' ? { base64: part.bytes } : { url: part.uri }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(name !== undefined && { extras: { filename: name } }),
  }
}
