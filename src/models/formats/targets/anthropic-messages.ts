import type { Annotation, ContentBlock, MediaBlock, Message } from '../../../messages/index.ts'
import { asIs, dropUndefined, nonEmpty } from '../fields.ts'
import type { Target } from './target.ts'
import { writeFinishReason } from './target.ts'

/** Anthropic Messages: a request has `system` and `messages`, a response is one message. */
export const anthropicTarget: Target = {
  name: 'anthropic',
  writeInputs(messages) {
    const system = messages
      .filter(({ role }) => role === 'system')
      .flatMap(({ content }) => content.map(writeBlock))
    return dropUndefined({ system: nonEmpty(system), messages: writeMessages(messages) })
  },
  writeOutputs([message]) {
    return dropUndefined({
      id: message?.id,
      type: 'message',
      role: 'assistant',
      model: message?.metadata?.model,
      content: (message?.content ?? []).map(writeBlock),
      stop_reason: message && writeFinishReason(message, STOP_REASONS),
    })
  },
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolCalls: 'tool_use',
  contentFilter: 'refusal',
  pause: 'pause_turn',
  error: 'end_turn',
  other: 'end_turn',
} as const

/**
 * As the API requires, tool results become user blocks, and consecutive messages of one speaker become one
 * message.
 */
function writeMessages(messages: readonly Message[]): unknown[] {
  const written: { role: string; content: unknown[] }[] = []
  for (const { role, content, toolCallId, status, extras } of messages) {
    if (role === 'system') continue
    const blocks = content.map(writeBlock)
    const result = { ...extras, type: 'tool_result', tool_use_id: toolCallId, content: blocks }
    const speaker = role === 'user' || role === 'tool' ? 'user' : 'assistant'
    const last = written.at(-1)
    const own = role === 'tool' ? [status === 'error' ? { ...result, is_error: true } : result] : blocks
    if (last?.role === speaker) for (const block of own) last.content.push(block)
    else written.push({ ...(role !== 'tool' && extras), role: speaker, content: own })
  }
  return written
}

function writeBlock(block: ContentBlock): unknown {
  const { id, extras: { type: kind, ...extras } = {} } = block
  switch (block.type) {
    case 'text':
      return dropUndefined({
        ...extras,
        type: 'text',
        text: block.text,
        citations: block.annotations?.map(writeCitation),
      })
    case 'reasoning': {
      const { field: _, ...others } = extras
      return kind === 'redacted_thinking'
        ? { ...others, type: kind }
        : { ...others, type: 'thinking', thinking: block.text }
    }
    case 'toolCall':
    case 'invalidToolCall':
      return dropUndefined({ ...extras, type: 'tool_use', id, name: block.name, input: block.args })
    case 'serverToolCall':
      return dropUndefined({
        ...extras,
        type: /_use$/.test(String(kind)) ? kind : 'server_tool_use',
        id,
        name: block.name,
        input: block.args,
      })
    case 'serverToolResult': {
      const type = /_tool_result$/.test(String(kind)) ? kind : 'mcp_tool_result'
      return dropUndefined({
        ...extras,
        type,
        tool_use_id: block.toolCallId,
        content: block.output,
        is_error: type === 'mcp_tool_result' ? block.status === 'error' : undefined,
      })
    }
    case 'image':
      return { ...extras, type: 'image', source: sourceOf(block) }
    case 'file':
      return kind === 'container_upload'
        ? { ...extras, type: kind, file_id: block.fileId }
        : { ...extras, type: 'document', source: sourceOf(block) }
    default:
      return asIs(block)
  }
}

const sourceOf = ({ url, base64, fileId, mimeType }: MediaBlock): unknown =>
  base64 !== undefined
    ? dropUndefined({ type: 'base64', media_type: mimeType, data: base64 })
    : fileId !== undefined
      ? { type: 'file', file_id: fileId }
      : { type: 'url', url }

function writeCitation(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return annotation.value
  const { url, title, citedText, startIndex: _, endIndex: __, extras } = annotation
  const type = String(extras?.type ?? 'web_search_result_location')
  return dropUndefined({
    ...extras,
    type,
    cited_text: citedText,
    [type === 'search_result_location' ? 'source' : 'url']: url,
    [/^(char|page|content_block)/.test(type) ? 'document_title' : 'title']: title,
  })
}
