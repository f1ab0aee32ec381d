import { splitDataUrl } from '../../../messages/content.ts'
import { type ContentBlock, decodeMessage, type MediaBlock, type Message } from '../../../messages/index.ts'
import { isSummary } from '../../../messages/message.ts'
import { itemsOf } from '../../../messages/record.ts'
import type { A2AMessage, Part } from '../model.ts'

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
