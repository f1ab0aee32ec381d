import { type ContentBlock, encodeBlock, type MediaType, type WireBlock } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, Part } from '../model.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The input of an agent: text and files are a message whose id is the message id, data objects are merged into the input. Throws
 * `content_type_not_supported` for data that no input can be made of.
 */
export function inputOf({ messageId, role, parts }: A2AMessage): Fields {
  const input: Record<string, unknown> = {}
  const blocks: WireBlock[] = []
  parts.forEach((part, index) => {
    if (part.kind !== 'data') blocks.push(encodeBlock(blockOf(part)))
    // Assigned by its name, this key would change the prototype of the input.
    else
      for (const [key, value] of Object.entries(objectOf(part, index)))
        if (key !== '__proto__') input[key] = value
  })
  if (blocks.length === 0) return input
  const text = blocks.length === 1 && blocks[0]!.type === 'text' ? blocks[0]!.text : blocks
  const message = { type: role === 'user' ? 'human' : 'ai', id: messageId, content: text }
  const before = Array.isArray(input.messages) ? input.messages : []
  return { ...input, messages: [...before, message] }
}

/** Whether a message needs an agent that keeps messages. */
export const hasContent = ({ parts }: A2AMessage): boolean => parts.some(({ kind }) => kind !== 'data')

/** The text of a message, its parts on lines of their own. */
export const textOf = ({ parts }: A2AMessage): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')

function objectOf({ data }: Extract<Part, { kind: 'data' }>, index: number): Fields {
  if (isRecord(data)) return data
  throw new A2AError(
    'content_type_not_supported',
    `message.parts[${index}].data: expected an object, whose keys become the agent's input.`,
  )
}

/** A part as agents have it in a message. */
export function blockOf(part: Part): ContentBlock {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  if (part.kind === 'data') return { type: 'nonStandard', value: { type: 'data', data: part.data } }
  const { name, mediaType } = part
  return {
    type: mediaKind(mediaType),
    ...(part.kind === 'bytes' ? { base64: part.bytes } : { url: part.uri }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(name !== undefined && { extras: { metadata: { filename: name } } }),
  }
}

const MEDIA: readonly MediaType[] = ['image', 'audio', 'video']

const mediaKind = (mediaType = ''): MediaType =>
  MEDIA.find((kind) => mediaType.startsWith(`${kind}/`)) ?? 'file'
