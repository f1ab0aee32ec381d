import type { Annotation, ContentBlock, Message } from '../../../messages/index.ts'
import { asIs, dropUndefined } from '../fields.ts'
import type { Target } from './target.ts'
import { writeFinishReason } from './target.ts'

/** Vercel's AI SDK: a request has model messages, a response is one message with the parts of a result. */
export const vercelTarget: Target = {
  name: 'vercel',
  writeInputs: (messages) => ({ messages: messages.flatMap(writeMessage) }),
  writeOutputs([message]) {
    const { id, content = [], metadata } = message ?? {}
    return dropUndefined({
      role: 'assistant',
      content: content.map((block) => writePart(block)),
      finishReason: (message && writeFinishReason(message, FINISH_REASONS)) ?? 'unknown',
      response: dropUndefined({ id, modelId: metadata?.model }),
    })
  },
}

const FINISH_REASONS = {
  stop: 'stop',
  length: 'length',
  toolCalls: 'tool-calls',
  contentFilter: 'content-filter',
  pause: 'other',
  error: 'error',
  other: 'other',
} as const

function writeMessage(message: Message): unknown[] {
  const { role, content, extras } = message
  if (role === 'tool') return [{ role, content: [writeResult(message)] }]
  const parts = content.map((block) => writePart(block, true))
  const [only] = content
  const plain = role === 'system' && content.length === 1 && only?.type === 'text' && !only.extras
  return [{ ...extras, role: role === 'reasoning' ? 'assistant' : role, content: plain ? only.text : parts }]
}

/** The result of a tool, with the type of output that fits its content. */
function writeResult({ name, toolCallId, status, content, extras }: Message): unknown {
  const { type, ...others } = extras ?? {}
  const [only] = content
  const text = content.length === 1 && only?.type === 'text' && !only.extras ? only.text : undefined
  const failed = status === 'error'
  const output =
    type === 'execution-denied'
      ? dropUndefined({ type, reason: text })
      : text !== undefined
        ? (jsonOutput(type, text) ?? { type: failed ? 'error-text' : 'text', value: text })
        : { type: 'content', value: content.map((block) => writePart(block, true)) }
  const unsaid = failed && output.type === 'content' ? { isError: true } : undefined
  return dropUndefined({
    ...others,
    ...unsaid,
    type: 'tool-result',
    toolCallId,
    toolName: name ?? '',
    output,
  })
}

function jsonOutput(type: unknown, text: string): { type: string; value: unknown } | undefined {
  if (type !== 'json' && type !== 'error-json') return undefined
  try {
    return { type, value: JSON.parse(text) }
  } catch {
    // A JSON value that is a string was read as its bare text, which does not parse.
    return { type, value: text }
  }
}

function writePart(block: ContentBlock, input = false): unknown {
  const { extras: { type: kind, ...extras } = {} } = block
  switch (block.type) {
    case 'text': {
      const { text, annotations = [] } = block
      const [source] = annotations
      return source && text === '' && isSource(source)
        ? writeSource(source)
        : dropUndefined({
            ...block.extras,
            type: 'text',
            text,
            citations: annotations.length > 0 ? annotations.map(writeCitation) : undefined,
          })
    }
    case 'reasoning': {
      const { field: _, ...others } = extras
      return {
        ...others,
        ...(kind === 'redacted-reasoning' ? { type: kind } : { type: 'reasoning', text: block.text }),
      }
    }
    case 'toolCall':
    case 'invalidToolCall':
    case 'serverToolCall': {
      const server = block.type === 'serverToolCall' || extras.server
      return dropUndefined({
        ...extras,
        type: 'tool-call',
        toolCallId: block.id,
        toolName: block.name ?? '',
        input: block.args,
        providerExecuted: server ? true : extras.providerExecuted,
      })
    }
    case 'serverToolResult': {
      const { toolCallId, output, status } = block
      const type = /^tool-/.test(String(kind)) ? kind : status === 'error' ? 'tool-error' : 'tool-result'
      const field = type === 'tool-error' ? 'error' : 'output'
      return dropUndefined({ toolName: '', ...extras, type, toolCallId, [field]: output })
    }
    case 'nonStandard':
      return asIs(block)
    default: {
      const { type, url, base64, fileId, mimeType: mediaType } = block
      const data = url ?? base64 ?? extras.data ?? (fileId && { type: 'reference', reference: fileId })
      if (kind === undefined && type === 'image' && !mediaType)
        return dropUndefined({ ...extras, type, image: data })
      const file = kind === 'reasoning-file' ? kind : 'file'
      return dropUndefined({
        ...extras,
        type: file,
        data,
        mediaType: mediaType ?? (input ? `${type}/*` : undefined),
      })
    }
  }
}

const isSource = (annotation: Annotation): boolean =>
  annotation.type === 'citation' && annotation.extras?.type === 'source'

function writeSource(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return annotation.value
  const { url, title, extras } = annotation
  return dropUndefined({ ...extras, url, title })
}

function writeCitation(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return annotation.value
  const { startIndex, endIndex, citedText } = annotation
  return dropUndefined({ source: writeSource(annotation), startIndex, endIndex, citedText })
}
