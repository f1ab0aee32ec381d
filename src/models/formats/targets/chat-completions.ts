import type { ContentBlock, InvalidToolCallBlock, Message, ToolCallBlock } from '../../../messages/index.ts'
import { argsOf, asIs, dropUndefined, nonEmpty, urlOf, writeCitation } from '../fields.ts'
import type { Target } from './target.ts'
import { spelledRole, writeFinishReason } from './target.ts'

/** OpenAI Chat Completions: a request has `messages`, a response has `choices` with a `message` each. */
export const completionsTarget: Target = {
  name: 'completions',
  writeInputs: (messages) => ({ messages: messages.map(writeMessage) }),
  writeOutputs: (messages) =>
    dropUndefined({
      id: messages[0]?.id,
      object: 'chat.completion',
      model: messages[0]?.metadata?.model,
      choices: messages.map((message, index) => ({
        index,
        message: writeMessage(message),
        finish_reason: writeFinishReason(message, FINISH_REASONS),
      })),
    }),
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
      audio = dropUndefined({ ...extras, id: block.fileId, data: block.base64 })
    else {
      parts.push(writePart(block))
      if (type === 'text') for (const one of block.annotations ?? []) annotations.push(nest(one))
    }
  }
  const [only] = parts as { type?: unknown; text?: unknown }[]
  const plain = parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2
  return dropUndefined({
    ...extras,
    role: spelledRole(assistant ? 'assistant' : role, extras),
    name,
    content: plain ? only.text : (nonEmpty(parts) ?? (assistant ? null : '')),
    refusal: refusal || undefined,
    reasoning_content: reasoning || undefined,
    reasoning_details: details,
    annotations: nonEmpty(annotations),
    audio,
    tool_calls: nonEmpty(calls),
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
  return dropUndefined({
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
      return { ...extras, type: 'image_url', image_url: dropUndefined({ url: urlOf(block), detail }) }
    case 'video':
      return { ...extras, type: 'video_url', video_url: { url: urlOf(block) } }
    case 'audio': {
      const { base64: data, mimeType } = block
      return {
        ...extras,
        type: 'input_audio',
        input_audio: dropUndefined({ data, format: format ?? mimeType?.split('/')[1] }),
      }
    }
    case 'file': {
      const { base64, url: file_url, fileId: file_id } = block
      return {
        ...extras,
        type,
        file: dropUndefined({ file_data: base64 && urlOf(block), file_url, file_id, filename }),
      }
    }
    default:
      return asIs(block)
  }
}
