import {
  type Annotation,
  type ContentBlock,
  decodeBlock,
  type Extras,
  type FinishReason,
  type MediaType,
  type Message,
  type Role,
} from '../messages/index.ts'
import { isRecord } from '../messages/record.ts'

type Fields = Readonly<Record<string, unknown>>

const ROLES = new Set<unknown>(['system', 'reasoning', 'user', 'assistant', 'tool'])
const FINISH: Readonly<Record<string, FinishReason>> = {
  tool_calls: 'toolCalls',
  content_filter: 'contentFilter',
}

/** Reads messages in the platform's own format. What is none is left out. */
export function readPlatformMessages(value: unknown): Message[] {
  return (Array.isArray(value) ? value : []).filter(isRecord).map(readMessage)
}

function readMessage(wire: Fields): Message {
  const { role, id, name, content, tool_call_id, status, finish_reason, response_metadata, extras } = wire
  const reason = FINISH[String(finish_reason)] ?? finish_reason
  return {
    role: ROLES.has(role) ? (role as Role) : 'user',
    ...(typeof id === 'string' && { id }),
    ...(typeof name === 'string' && { name }),
    content: (Array.isArray(content) ? content : content ? [content] : []).map(readBlock),
    ...(typeof tool_call_id === 'string' && { toolCallId: tool_call_id }),
    ...(status === 'success' || status === 'error' ? { status } : undefined),
    ...(typeof reason === 'string' && { finishReason: reason as FinishReason }),
    ...(isRecord(response_metadata) && { metadata: response_metadata }),
    ...(isRecord(extras) && { extras }),
  }
}

function readBlock(value: unknown): ContentBlock {
  if (typeof value === 'string') return { type: 'text', text: value }
  if (!isRecord(value)) return { type: 'nonStandard', value }
  switch (value.type) {
    case 'text': {
      const { non_standard, ...others } = fieldsOf(value.extras)
      if (non_standard !== undefined)
        return { type: 'nonStandard', value: non_standard, ...about(others, true) }
      const annotated = decodeBlock({ type: 'text', text: '', ...given(value, 'annotations') })
      const { annotations } = annotated as { annotations?: readonly Annotation[] }
      return {
        type: 'text',
        text: textOf(value.text),
        ...(annotations && { annotations }),
        ...about(others, true),
      }
    }
    case 'reasoning':
      return { type: 'reasoning', text: textOf(value.text), ...about(fieldsOf(value.extras), true) }
    case 'tool_call':
    case 'server_tool_call':
      return readCall(value)
    case 'server_tool_result': {
      const { id, tool_call_id, status, output, extras } = value
      return {
        type: 'serverToolResult',
        ...(typeof id === 'string' && { id }),
        toolCallId: textOf(tool_call_id),
        status: status === 'error' ? 'error' : 'success',
        ...(output !== undefined && { output }),
        ...about(fieldsOf(extras), false),
      }
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'file': {
      const { type, url, base64, id, mime_type, extras } = value
      return {
        type: type as MediaType,
        ...(typeof url === 'string' && { url }),
        ...(typeof base64 === 'string' && { base64 }),
        ...(typeof id === 'string' && { fileId: id }),
        ...(typeof mime_type === 'string' && { mimeType: mime_type }),
        ...about(fieldsOf(extras), true),
      }
    }
    default:
      return { type: 'nonStandard', value }
  }
}

function readCall({ type, id, name, args, extras }: Fields): ContentBlock {
  const { invalid, ...others } = fieldsOf(extras)
  const known = { ...(typeof id === 'string' && id !== '' && { id }), name: textOf(name) }
  const server = type === 'server_tool_call'
  if (isRecord(invalid)) {
    const rest = about(server ? { ...others, server: true } : others, false)
    return {
      type: 'invalidToolCall',
      ...known,
      args: textOf(invalid.args),
      error: textOf(invalid.error),
      ...rest,
    }
  }
  return {
    type: server ? 'serverToolCall' : 'toolCall',
    ...known,
    args: fieldsOf(args),
    ...about(others, false),
  }
}

/** `extras`, and the id of a block whose own `id` means something else. */
function about({ id, ...others }: Fields, hasId: boolean): { id?: string; extras?: Extras } {
  const own = hasId && typeof id === 'string'
  const extras = own || id === undefined ? others : { id, ...others }
  return { ...(own && { id }), ...(Object.keys(extras).length > 0 && { extras }) }
}

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const given = (fields: Fields, key: string) =>
  fields[key] === undefined ? undefined : { [key]: fields[key] }
