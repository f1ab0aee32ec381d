import { type Annotation, type ContentBlock, encodeBlock, type Message } from '../../../messages/index.ts'
import { nonEmpty } from '../../../messages/record.ts'
import { WIRE_REASONS } from '../../../messages/wire/events.ts'
import type { Fields } from '../../formats/fields.ts'
import {
  anthropicTarget,
  completionsTarget,
  detectFormat,
  type Format,
  formats,
  langchainTarget,
  responsesTarget,
  type Target,
  vercelTarget,
} from '../../formats/index.ts'
import { TracingError } from '../errors.ts'

const TARGETS: ReadonlyMap<string, Target> = new Map(
  [completionsTarget, responsesTarget, anthropicTarget, langchainTarget, vercelTarget].map((target) => [
    target.name,
    target,
  ]),
)

/** The selected format, otherwise the one detected from the values. */
export function formatOf(
  asked: Format | string | undefined,
  ...values: readonly unknown[]
): Format | undefined {
  if (typeof asked === 'object') return asked
  const found = detectFormat(formats, values, asked)
  if (asked === undefined || found) return found
  throw unknownName(
    'format',
    asked,
    formats.map(({ name }) => name),
  )
}

/** The selected target. Default: the platform's own message format. */
export function targetOf(asked: Target | string | undefined): Target {
  if (typeof asked === 'object') return asked
  const found = asked === undefined ? platformTarget : TARGETS.get(asked)
  if (found) return found
  throw unknownName('target', asked, [...TARGETS.keys()])
}

const unknownName = (path: string, asked: unknown, names: readonly string[]): TracingError =>
  new TracingError(path, `Unknown ${path} ${JSON.stringify(asked)}. Known: ${names.join(', ')}.`)

/** The platform's own message format: `messages` with typed content blocks (platform interface). */
export const platformTarget: Target = {
  name: 'platform',
  writeInputs: (messages) => ({ messages: messages.map(writeMessage) }),
  writeOutputs: (messages) => ({ messages: messages.map(writeMessage) }),
}

function writeMessage(message: Message): Record<string, unknown> {
  const { role, id, name, content, toolCallId, status, finishReason, metadata, extras } = message
  const written: Record<string, unknown> = { role, content: content.map(writeBlock) }
  if (role === 'tool' && toolCallId !== undefined) written.tool_call_id = toolCallId
  if (id !== undefined) written.id = id
  if (name !== undefined) written.name = name
  if (status !== undefined) written.status = status
  if (finishReason !== undefined) written.finish_reason = WIRE_REASONS[finishReason]
  if (metadata) written.response_metadata = metadata
  if (extras) written.extras = extras
  return written
}

/** `extras` keeps what the platform's block has no field for: the id, invalid arguments, unknown blocks. */
function writeBlock(block: ContentBlock): Record<string, unknown> {
  const { id, extras } = block
  switch (block.type) {
    case 'text': {
      const written = { type: 'text', text: block.text, ...annotationsOf(block.annotations) }
      return withExtras(written, extras, id)
    }
    case 'reasoning': {
      // The name under which a server sent its thoughts matters to servers only.
      const { field: _, ...others } = extras ?? {}
      return withExtras({ type: 'reasoning', text: block.text }, nonEmpty(others), id)
    }
    case 'toolCall':
      return withExtras(callOf('tool_call', id, block.name, block.args), extras)
    case 'invalidToolCall': {
      const { server, ...others } = extras ?? {}
      const type = server ? 'server_tool_call' : 'tool_call'
      const invalid = { args: block.args, error: block.error }
      return withExtras(callOf(type, id, block.name ?? '', {}), { ...others, invalid })
    }
    case 'serverToolCall':
      return withExtras(callOf('server_tool_call', id ?? '', block.name, block.args), extras)
    case 'serverToolResult': {
      const { toolCallId, status, output } = block
      const written: Record<string, unknown> = { type: 'server_tool_result', tool_call_id: toolCallId }
      if (id !== undefined) written.id = id
      written.status = status
      if (output !== undefined) written.output = output
      return withExtras(written, extras)
    }
    case 'nonStandard':
      return withExtras({ type: 'text', text: '' }, { ...extras, non_standard: block.value }, id)
    default: {
      const { type, url, base64, fileId, mimeType } = block
      const written: Record<string, unknown> = { type }
      if (url !== undefined) written.url = url
      if (base64 !== undefined) written.base64 = base64
      if (fileId !== undefined) written.id = fileId
      if (mimeType !== undefined) written.mime_type = mimeType
      return withExtras(written, extras, id)
    }
  }
}

function callOf(type: string, id: string | undefined, name: string, args: Fields): Record<string, unknown> {
  return id === undefined ? { type, name, args } : { type, id, name, args }
}

function withExtras(
  written: Record<string, unknown>,
  extras: Fields | undefined,
  id?: string,
): Record<string, unknown> {
  if (id !== undefined) written.extras = { ...extras, id }
  else if (extras) written.extras = extras
  return written
}

function annotationsOf(annotations: readonly Annotation[] | undefined): Fields | undefined {
  return annotations && { annotations: encodeBlock({ type: 'text', text: '', annotations }).annotations }
}
