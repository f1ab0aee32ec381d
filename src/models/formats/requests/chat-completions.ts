import type { ContentBlock, MediaType, ToolCallBlock } from '../../../messages/index.ts'
import { asIs, dropUndefined, fieldsOf, listOf, nonEmpty, urlOf } from '../fields.ts'
import { isPdf, isPicture, isWeb, mimeTypeOf, nameOf } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  dataUrlOf,
  isFilled,
  isPlainThought,
  joinTexts,
  onlyText,
  textsOf,
  type WriteRequest,
} from './write.ts'

/** OpenAI Chat Completions, and servers that take no more than it: Azure, Groq, Cerebras, xAI. */
export const writeCompletions: WriteRequest = (messages, { media } = {}) => ({
  messages: prepareThread(messages, withMedia(RULES, media)).map((message) => writeTurn(message, false)),
})

/**
 * Servers that speak Chat Completions and want back what they add to it: thoughts under the name they came
 * with (DeepSeek, Kimi, vLLM, OpenRouter), and the signatures of calls (Gemini's endpoint of this shape).
 */
export const writeCompatible: WriteRequest = (messages, { media } = {}) => ({
  messages: prepareThread(messages, withMedia(COMPATIBLE_RULES, media)).map((message) =>
    writeTurn(message, true),
  ),
})

const RULES: Rules = {
  ids: /^[!-~]{1,40}$/,
  takes(media, place) {
    if (place !== 'user') return false
    const { type, base64, fileId } = media
    switch (type) {
      case 'image':
        return isWeb(media) || (base64 !== undefined && isPicture(media))
      case 'audio':
        return base64 !== undefined && AUDIO[mimeTypeOf(media) ?? ''] !== undefined
      case 'file':
        return fileId !== undefined ? !/^file_01/.test(fileId) : base64 !== undefined && isPdf(media)
      default:
        return false
    }
  },
  // A spoken answer can be named for an hour, and said in words after that.
  owns: (block, place) =>
    block.type === 'audio' &&
    place === 'assistant' &&
    block.fileId !== undefined &&
    !isFilled(block.extras?.transcript),
}

/** OpenAI's models watch no videos, but others do. */
const withMedia = (rules: Rules, media: readonly MediaType[] = []): Rules =>
  media.includes('video')
    ? {
        ...rules,
        takes: (block, place) => (block.type === 'video' && place === 'user') || rules.takes(block, place),
      }
    : rules

const COMPATIBLE_RULES: Rules = {
  ids: /^[!-~]{1,40}$/,
  takes: (media, place) => RULES.takes(media, place),
  owns: (block, place) =>
    (block.type === 'reasoning' && thoughtFields(block) !== undefined) || RULES.owns!(block, place),
}

const AUDIO: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/mpeg': 'mp3' }
const NAME = /^[^\s<|\\/>\p{Surrogate}]{1,64}$/u

/** The fields under which a server sent a thought. One that says nothing else about itself has the usual name. */
function thoughtFields(block: ContentBlock & { readonly type: 'reasoning' }) {
  const { text, extras = {} } = block
  const field = isPlainThought(block) ? 'reasoning_content' : extras.field
  const details = listOf(extras.reasoning_details)
  const named = field === 'reasoning_content' || field === 'reasoning' ? { [field]: text } : undefined
  return details.length > 0 ? { ...named, reasoning_details: details } : named
}

function writeTurn(message: PreparedMessage, compatible: boolean): Record<string, unknown> {
  const { role, content, toolCallId, extras } = message
  const name = message.name !== undefined && NAME.test(message.name) ? message.name : undefined
  switch (role) {
    case 'system':
      return dropUndefined({
        role: extras?.role === 'developer' ? 'developer' : role,
        name,
        content: joinTexts(message),
      })
    case 'tool':
      return { role, tool_call_id: toolCallId, content: joinTexts(message) }
    case 'user': {
      return dropUndefined({ role, name, content: onlyText(content) ?? content.map(writeUserPart) })
    }
    case 'assistant': {
      const calls = content.filter((block) => block.type === 'toolCall')
      const audio = content.find(({ type }) => type === 'audio')
      const text = textsOf(message)
      return dropUndefined({
        role,
        name,
        content: text === '' && (calls.length > 0 || audio) ? null : text,
        ...(compatible && writeThoughts(content)),
        audio: audio && { id: (audio as { readonly fileId?: string }).fileId },
        tool_calls: nonEmpty(calls.map((call) => writeCall(call, compatible))),
      })
    }
  }
}

/** The thoughts of a message, each under the name that it came with. */
function writeThoughts(content: readonly ContentBlock[]): Record<string, unknown> {
  const written: Record<string, unknown> = {}
  for (const block of content) {
    const fields: Record<string, unknown> = (block.type === 'reasoning' && thoughtFields(block)) || {}
    for (const key in fields) {
      const [before, value] = [written[key], fields[key]]
      written[key] = Array.isArray(value)
        ? [...listOf(before), ...value]
        : `${String(before ?? '')}${String(value)}`
    }
  }
  return written
}

function writeCall({ id, name, args, extras = {} }: ToolCallBlock, compatible: boolean): unknown {
  const signed = compatible && fieldsOf(extras.extra_content).google
  return dropUndefined({
    id,
    ...(extras.type === 'custom' && typeof args.input === 'string'
      ? { type: 'custom', custom: { name, input: args.input } }
      : { type: 'function', function: { name, arguments: JSON.stringify(args) } }),
    extra_content: signed ? extras.extra_content : undefined,
  })
}

function writeUserPart(block: PreparedMessage['content'][number]): unknown {
  const { type, extras = {} } = block
  switch (type) {
    case 'text':
      return { type, text: block.text }
    case 'image': {
      const detail = /^(auto|low|high)$/.test(String(extras.detail)) ? extras.detail : undefined
      return { type: 'image_url', image_url: dropUndefined({ url: dataUrlOf(block) ?? block.url, detail }) }
    }
    case 'video':
      return { type: 'video_url', video_url: { url: urlOf(block) } }
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: block.base64, format: AUDIO[mimeTypeOf(block)!] },
      }
    case 'file':
      return {
        type,
        file: block.fileId
          ? { file_id: block.fileId }
          : { file_data: dataUrlOf(block), filename: nameOf(block) ?? 'document.pdf' },
      }
    default:
      return asIs(block)
  }
}
