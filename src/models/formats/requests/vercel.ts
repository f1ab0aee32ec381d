import type { ContentBlock, MediaBlock, MediaType, Message } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { dropUndefined, fieldsOf, toText } from '../fields.ts'
import { isPdf, isPicture, mimeTypeOf, nameOf } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  isFilled,
  isGeminiSignature,
  joinTexts,
  sdkOptionsOf,
  startWithUser,
  type WriteRequest,
  withoutLastThoughts,
} from './write.ts'

/** Model messages of Vercel's AI SDK. */
export const writeAiSdk: WriteRequest = (messages, { media = [] } = {}) => ({
  messages: mergeMessages(arrange(itemsOnce(prepareThread(messages, rulesFor(media)))).map(writeTurn)),
})

const rulesFor = (media: readonly MediaType[]): Rules => ({
  // The packages of providers pass ids on, and this is what all of their APIs take.
  ids: /^[a-zA-Z0-9_-]{1,40}$/,
  takes: (block, place) =>
    (place === 'user' || place === 'tool') &&
    (block.base64 !== undefined || /^(https|gs|s3):/.test(block.url ?? '')) &&
    (media.includes(block.type) || isPdf(block) || isPicture(block)),
  owns(block) {
    // The package of Google writes any other call of a provider's tool as a call that waits for its result.
    if (/^serverTool(Call|Result)$/.test(block.type))
      return isFilled(sdkOptionsOf(block, 'google').serverToolCallId)
    return block.type === 'reasoning'
  },
})

/** What the packages of all providers take: instructions first, then the user, and no thought at the end. */
function arrange(messages: readonly PreparedMessage[]): readonly PreparedMessage[] {
  const system = messages.filter(({ role }) => role === 'system')
  const turns = messages.filter(({ role }) => role !== 'system')
  return [...system, ...startWithUser(withoutLastThoughts(turns))]
}

/** OpenAI takes each of its items once, and a thread may have a message twice. */
function itemsOnce(messages: readonly PreparedMessage[]): PreparedMessage[] {
  const seen = new Set<unknown>()
  return messages.map((message) => {
    const content = message.content.flatMap((block) => {
      if (!seen.has(itemIdOf(block))) return [block]
      const { extras: _, ...unnamed } = block
      return block.type === 'reasoning' ? [] : [unnamed as typeof block]
    })
    for (const block of content) {
      const id = itemIdOf(block)
      if (id !== undefined) seen.add(id)
    }
    return { ...message, content }
  })
}

const itemIdOf = (block: ContentBlock): unknown =>
  sdkOptionsOf(block, 'openai').itemId ?? (block.type === 'reasoning' ? block.id : undefined)

interface Written {
  readonly role: string
  readonly content: string | readonly unknown[]
}

/** The results of one answer are parts of one message, and so is what one speaker says in a row. */
function mergeMessages(messages: readonly Written[]): Written[] {
  const merged: { role: string; content: string | readonly unknown[] }[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    if (last?.role === message.role && last.role !== 'system')
      last.content = [...last.content, ...message.content]
    else merged.push({ ...message })
  }
  return merged
}

function writeTurn(message: PreparedMessage): Written {
  const { role, content, extras } = message
  const providerOptions = optionsOf(extras)
  const options = providerOptions ? { providerOptions } : undefined
  if (role === 'system') return { role, content: joinTexts(message), ...options }
  if (role === 'tool') return { role, content: [writeResult(message)] }
  return { role, content: content.map(writePart), ...options }
}

/**
 * What a provider asks back. The AI SDK gives it with an answer under another name than it takes it in a
 * prompt. Signatures that a provider's own format has are given as its package names them.
 */
function optionsOf({ providerMetadata, providerOptions }: Message['extras'] = {}): unknown {
  const given = { ...fieldsOf(providerMetadata), ...fieldsOf(providerOptions) }
  const known = Object.entries(given).filter(([, options]) => isRecord(options))
  return known.length > 0 ? Object.fromEntries(known) : undefined
}

function signaturesOf({ id, extras = {} }: ContentBlock): unknown {
  const { type, data, signature, thoughtSignature, encrypted_content: encrypted } = extras
  if (isFilled(signature)) return { anthropic: { signature } }
  if (/^redacted[-_]/.test(String(type)) && isFilled(data)) return { anthropic: { redactedData: data } }
  if (isGeminiSignature(thoughtSignature)) return { google: { thoughtSignature } }
  const itemId = id?.startsWith('rs_') ? id : undefined
  if (!itemId && !isFilled(encrypted)) return undefined
  return {
    openai: dropUndefined({ itemId, reasoningEncryptedContent: isFilled(encrypted) ? encrypted : undefined }),
  }
}

function writePart(block: PreparedMessage['content'][number]): unknown {
  const { extras = {} } = block
  const providerOptions = optionsOf(extras) ?? signaturesOf(block)
  switch (block.type) {
    case 'text':
      return dropUndefined({ type: 'text', text: block.text, providerOptions })
    case 'reasoning':
      return dropUndefined({ type: 'reasoning', text: block.text, providerOptions })
    case 'toolCall':
    case 'serverToolCall':
      return dropUndefined({
        type: 'tool-call',
        toolCallId: block.id,
        toolName: block.name,
        input: block.args,
        providerExecuted: block.type === 'serverToolCall' || undefined,
        providerOptions,
      })
    case 'serverToolResult': {
      const { toolCallId, output: value = null, status } = block
      const output = status === 'error' ? { type: 'error-json', value } : { type: 'json', value }
      return dropUndefined({
        type: 'tool-result',
        toolCallId,
        toolName: toText(extras.toolName),
        output,
        providerOptions,
      })
    }
    case 'nonStandard':
      return block.value
    default:
      return dropUndefined({
        type: 'file',
        data: block.base64 ?? block.url,
        mediaType: mimeTypeOf(block) ?? MEDIA_TYPES[block.type],
        filename: nameOf(block),
        providerOptions,
      })
  }
}

/** The types of files whose type is not known. */
const MEDIA_TYPES = { image: 'image/*', audio: 'audio/mpeg', video: 'video/mp4', file: 'application/pdf' }

/** The result of a tool, with the type of output that fits its content. */
function writeResult(message: PreparedMessage): unknown {
  const { name, toolCallId, status, content, extras } = message
  const type = extras?.type
  const failed = status === 'error'
  const text = content.every((block) => block.type === 'text') ? joinTexts(message) : undefined
  const output =
    type === 'execution-denied'
      ? dropUndefined({ type, reason: text || undefined })
      : text !== undefined
        ? (jsonOutput(type, text) ?? { type: failed ? 'error-text' : 'text', value: text })
        : { type: 'content', value: content.map(writeOutputPart) }
  return dropUndefined({
    type: 'tool-result',
    toolCallId,
    toolName: name,
    output,
    providerOptions: optionsOf(extras),
  })
}

/** A part of a result that is a list. Versions 6 and 7 take these names. */
function writeOutputPart(block: ContentBlock): unknown {
  if (block.type === 'text') return { type: 'text', text: block.text }
  const media = block as MediaBlock
  const isImage = media.type === 'image'
  if (media.base64 === undefined) return { type: isImage ? 'image-url' : 'file-url', url: media.url }
  return dropUndefined({
    type: isImage ? 'image-data' : 'file-data',
    data: media.base64,
    mediaType: mimeTypeOf(media) ?? (isImage ? 'image/png' : MEDIA_TYPES[media.type]),
    filename: isImage ? undefined : nameOf(media),
  })
}

function jsonOutput(type: unknown, text: string): { type: string; value: unknown } | undefined {
  if (type !== 'json' && type !== 'error-json') return undefined
  try {
    return { type, value: JSON.parse(text) }
  } catch {
    // A JSON value that is a string was read as its bare text. As JSON it would be quoted twice on its way to the model.
    return undefined
  }
}
