import type {
  ContentBlock,
  InvalidToolCallBlock,
  MediaType,
  Message,
  ToolCallBlock,
} from '../../messages/index.ts'
import { fieldsOf, listOf } from '../reading/fields.ts'
import { isPdf, isPicture, isWeb, mimeTypeOf, nameOf } from './media.ts'
import type { Target } from './target.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  argsOf,
  asIs,
  dataUrlOf,
  isFilled,
  isPlainThought,
  joinTexts,
  onlyText,
  present,
  some,
  textsOf,
  urlOf,
  writeCitation,
  writeFinishReason,
} from './write.ts'

/**
 * OpenAI Chat Completions, and servers that take no more than it: Azure, Groq, Cerebras, xAI. A request has
 * `messages`, a response has `choices` with a `message` each.
 */
export const completionsTarget: Target = {
  name: 'completions',
  writeRequest: (messages, { media } = {}) => ({
    messages: prepareThread(messages, withMedia(RULES, media)).map((message) => writeTurn(message, false)),
  }),
  writeResponse,
}

/**
 * Servers that speak Chat Completions and want back what they add to it: thoughts under the name they came
 * with (DeepSeek, Kimi, vLLM, OpenRouter), and the signatures of calls (Gemini's endpoint of this shape).
 */
export const compatibleTarget: Target = {
  name: 'completions',
  writeRequest: (messages, { media } = {}) => ({
    messages: prepareThread(messages, withMedia(COMPATIBLE_RULES, media)).map((message) =>
      writeTurn(message, true),
    ),
  }),
  writeResponse,
}

function writeResponse(messages: readonly Message[]): Record<string, unknown> {
  return present({
    id: messages[0]?.id,
    object: 'chat.completion',
    model: messages[0]?.metadata?.model,
    choices: messages.map((message, index) => ({
      index,
      message: writeMessage(message),
      finish_reason: writeFinishReason(message, FINISH_REASONS),
    })),
  })
}

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
      return present({
        role: extras?.role === 'developer' ? 'developer' : role,
        name,
        content: joinTexts(message),
      })
    case 'tool':
      return { role, tool_call_id: toolCallId, content: joinTexts(message) }
    case 'user': {
      return present({ role, name, content: onlyText(content) ?? content.map(writeUserPart) })
    }
    case 'assistant': {
      const calls = content.filter((block) => block.type === 'toolCall')
      const audio = content.find(({ type }) => type === 'audio')
      const text = textsOf(message)
      return present({
        role,
        name,
        content: text === '' && (calls.length > 0 || audio) ? null : text,
        ...(compatible && writeThoughts(content)),
        audio: audio && { id: (audio as { readonly fileId?: string }).fileId },
        tool_calls: some(calls.map((call) => writeOwnCall(call, compatible))),
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

function writeOwnCall({ id, name, args, extras = {} }: ToolCallBlock, compatible: boolean): unknown {
  const signed = compatible && fieldsOf(extras.extra_content).google
  return present({
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
      return { type: 'image_url', image_url: present({ url: dataUrlOf(block) ?? block.url, detail }) }
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

const FINISH_REASONS = {
  stop: 'stop',
  length: 'length',
  toolCalls: 'tool_calls',
  contentFilter: 'content_filter',
  pause: 'stop',
  error: 'error',
  other: 'stop',
} as const

/** Writes a message of a response for readers of traces, with all that is known of it. */
function writeMessage({ role, name, toolCallId, content, extras }: Message): Record<string, unknown> {
  const assistant = role === 'assistant' || role === 'reasoning'
  const parts: unknown[] = []
  const calls: unknown[] = []
  const annotations: unknown[] = []
  let [reasoning, refusal] = ['', '']
  let details: unknown
  let audio: unknown
  for (const block of content) {
    const { type, extras } = block
    if (type === 'toolCall' || type === 'invalidToolCall') calls.push(writeCall(block))
    else if (type === 'reasoning') {
      reasoning += block.text
      details ??= extras?.reasoning_details
    } else if (type === 'text' && extras?.type === 'refusal') refusal += block.text
    else if (type === 'audio' && assistant)
      audio = present({ id: block.fileId, data: block.base64, ...extras })
    else {
      parts.push(writePart(block))
      if (type === 'text') for (const one of block.annotations ?? []) annotations.push(nest(one))
    }
  }
  const [only] = parts as { type?: unknown; text?: unknown }[]
  const plain = parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2
  return present({
    ...extras,
    role: assistant ? 'assistant' : role,
    name,
    content: plain ? only.text : (some(parts) ?? (assistant ? null : '')),
    refusal: refusal || undefined,
    reasoning_content: reasoning || undefined,
    reasoning_details: details,
    annotations: some(annotations),
    audio,
    tool_calls: some(calls),
    tool_call_id: toolCallId,
  })
}

/** Moves a citation's fields into a field named after its type, as this format nests them. */
function nest(annotation: Parameters<typeof writeCitation>[0]): unknown {
  const { type, ...fields } = writeCitation(annotation) as { type: string }
  return annotation.type === 'nonStandard' ? annotation.value : { type, [type]: fields }
}

function writeCall(block: ToolCallBlock | InvalidToolCallBlock): unknown {
  const { id, name = '', args, extras: { type, ...extras } = {} } = block
  const custom = String(type).startsWith('custom') && typeof args !== 'string'
  return present({
    ...extras,
    id,
    ...(custom
      ? { type: 'custom', custom: { name, input: args.input } }
      : { type: 'function', function: { name, arguments: argsOf(block) } }),
  })
}

function writePart(block: ContentBlock): unknown {
  const { type, id: _, extras: { detail, filename, format, ...extras } = {} } = block
  switch (type) {
    case 'text':
      return { ...extras, type, text: block.text }
    case 'image':
      return { ...extras, type: 'image_url', image_url: present({ url: urlOf(block), detail }) }
    case 'video':
      return { ...extras, type: 'video_url', video_url: { url: urlOf(block) } }
    case 'audio': {
      const { base64: data, mimeType } = block
      return {
        ...extras,
        type: 'input_audio',
        input_audio: present({ data, format: format ?? mimeType?.split('/')[1] }),
      }
    }
    case 'file': {
      const { base64, url: file_url, fileId: file_id } = block
      return {
        ...extras,
        type,
        file: present({ file_data: base64 && urlOf(block), file_url, file_id, filename }),
      }
    }
    default:
      return asIs(block)
  }
}
