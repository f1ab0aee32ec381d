import type { ContentBlock, MediaBlock } from '../../../messages/index.ts'
import { dropUndefined, nonEmpty } from '../fields.ts'
import { isPdf, isPicture, isWeb, mimeTypeOf, nameOf } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import { dataUrlOf, joinTexts, onlyText, splitSystem, textsOf, type WriteRequest } from './write.ts'

/**
 * Mistral's chat completions, which differ from OpenAI's: ids of calls have nine letters and digits, thoughts
 * are parts, documents have a URL, instructions come first, and results are followed by an answer.
 */
export const writeMistral: WriteRequest = (messages) => {
  const { system, turns } = splitSystem(prepareThread(messages, RULES))
  const instructions = { role: 'system', content: joinTexts({ content: system }) }
  return { messages: [...(system.length > 0 ? [instructions] : []), ...bridge(turns.flatMap(writeTurn))] }
}

const RULES: Rules = {
  ids: /^[a-zA-Z0-9]{9}$/,
  idOf: (count) => `call${String(count).padStart(5, '0')}`,
  takes(media, place) {
    if (place !== 'user') return false
    const { type, base64 } = media
    if (type === 'image') return isWeb(media) || (base64 !== undefined && isPicture(media))
    if (type === 'audio') return base64 !== undefined && /^audio\/(wav|mpeg)$/.test(mimeTypeOf(media) ?? '')
    return type === 'file' && isPdf(media) && (isWeb(media) || base64 !== undefined)
  },
  owns: (block) => block.type === 'reasoning' && block.extras?.field === 'thinking' && block.text !== '',
}

/** A user cannot speak right after the results of tools. */
function bridge(messages: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return messages.flatMap((message, at) =>
    message.role === 'user' && messages[at - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'I have the results.' }, message]
      : [message],
  )
}

function writeTurn(message: PreparedMessage): Record<string, unknown>[] {
  const { role, name, toolCallId, content } = message
  if (role === 'tool') return [{ role, name, tool_call_id: toolCallId, content: joinTexts(message) }]
  if (role === 'user') {
    return [{ role, content: onlyText(content) ?? content.map(writePart) }]
  }
  const calls = content.filter((block) => block.type === 'toolCall')
  const isThought = content.some(({ type }) => type === 'reasoning')
  const isSaid = content.some(({ type }) => type === 'text')
  // A thought alone is no answer.
  if (!isSaid && calls.length === 0) return []
  const parts = content.filter(({ type }) => type === 'text' || type === 'reasoning')
  return [
    dropUndefined({
      role,
      content: isThought ? parts.map(writePart) : textsOf(message),
      tool_calls: nonEmpty(
        calls.map(({ id, name, args }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        })),
      ),
    }),
  ]
}

function writePart(block: ContentBlock): unknown {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'reasoning':
      return { type: 'thinking', thinking: [{ type: 'text', text: block.text }] }
    case 'audio':
      return { type: 'input_audio', input_audio: block.base64 }
    default: {
      const media = block as MediaBlock
      const url = dataUrlOf(media) ?? media.url
      return media.type === 'image'
        ? { type: 'image_url', image_url: url }
        : dropUndefined({ type: 'document_url', document_url: url, document_name: nameOf(media) })
    }
  }
}
