import {
  type ContentBlock,
  decodeUsage,
  type FinishReason,
  type MediaType,
  type Message,
  type Role,
  type Usage,
} from '../../../messages/index.ts'
import { defined, isRecord, nonEmpty } from '../../../messages/record.ts'
import { parseToolArgs } from '../../../messages/tool-args.ts'
import { type Fields, fieldsOf, listOf, toText } from '../../formats/fields.ts'
import { toResult } from '../../formats/reading/blocks.ts'
import { finishReasonOf } from '../../formats/reading/draft.ts'
import { toMessages } from '../../formats/reading/request.ts'

/** The model call in a span's attributes, in the normal form. */
export interface GenAiCall {
  readonly input: readonly Message[]
  readonly output: readonly Message[]
  readonly provider?: string
  readonly model?: string
  readonly usage?: Usage
  /** Why each choice ended. Libraries also write it if they leave out the messages. */
  readonly finishReasons?: readonly FinishReason[]
}

/**
 * Reads a span's attributes, ours or another library's. Text, ids, arguments and counts are exactly as
 * `genAiAttributes` wrote them.
 */
export function readGenAiAttributes(attributes: Readonly<Record<string, unknown>>): GenAiCall {
  const provider =
    attributes['langsmith.metadata.ls_provider'] ??
    attributes['gen_ai.system'] ??
    attributes['gen_ai.provider.name']
  const model = attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model']
  const usage = usageOf(attributes)
  const reasons = listOf(parse(attributes['gen_ai.response.finish_reasons'])).map((raw) =>
    finishReasonOf(raw),
  )
  const output = messagesOf(attributes['gen_ai.output.messages'])
  return {
    input: [
      ...systemOf(attributes['gen_ai.system_instructions']),
      ...messagesOf(attributes['gen_ai.input.messages']),
    ],
    output: output.map((message, at) => (reasons[at] ? { finishReason: reasons[at], ...message } : message)),
    ...defined({
      provider: textOf(provider),
      model: textOf(model),
      usage,
      finishReasons: reasons.length > 0 ? reasons.map((reason) => reason ?? 'other') : undefined,
    }),
  }
}

function usageOf(attributes: Fields): Usage | undefined {
  const whole = decodeUsage(parse(attributes['langsmith.usage_metadata']))
  if (whole) return whole
  const counts = new Map(
    Object.entries(attributes).flatMap(([name, count]) =>
      name.startsWith(USAGE) ? [[name.slice(USAGE.length), count]] : [],
    ) as [string, unknown][],
  )
  const input_tokens = counts.get('input_tokens') ?? counts.get('prompt_tokens')
  const output_tokens = counts.get('output_tokens') ?? counts.get('completion_tokens')
  if (input_tokens === undefined && output_tokens === undefined) return undefined
  const details = { input: {}, output: {} } as Record<Side, Record<string, unknown>>
  for (const [name, count] of counts) {
    const [, key, side] = /^(\w+)\.(input|output)_tokens$/.exec(name) ?? OLDER.get(name) ?? []
    if (key) details[side as Side][RENAMED[key] ?? key] ??= count
  }
  return decodeUsage({
    input_tokens,
    output_tokens,
    input_token_details: nonEmpty(details.input),
    output_token_details: nonEmpty(details.output),
  })
}

type Side = 'input' | 'output'

const USAGE = 'gen_ai.usage.'

/** The conventions' names of details that price tables call otherwise. */
const RENAMED: Readonly<Record<string, string>> = { cache_write: 'cache_creation' }

/** Names of details before the conventions had any, or outside of them, as the pattern splits others. */
const OLDER = /* @__PURE__ */ new Map<string, readonly string[]>(
  (
    [
      ['cache_read', 'input', 'cache_read_input_tokens'],
      ['cache_read', 'input', 'details.cache_read_tokens'],
      ['cache_read', 'input', 'details.cache_read_input_tokens'],
      ['cache_read', 'input', 'details.cached_tokens'],
      ['cache_creation', 'input', 'cache_creation_input_tokens'],
      ['cache_creation', 'input', 'details.cache_write_tokens'],
      ['cache_creation', 'input', 'details.cache_creation_input_tokens'],
      ['reasoning', 'output', 'reasoning_tokens'],
      ['reasoning', 'output', 'details.reasoning_tokens'],
    ] as const
  ).map(([key, side, name]) => [name, [name, key, side]]),
)

/** The instructions that the conventions keep apart from the messages: parts, or in some libraries a text. */
function systemOf(value: unknown): Message[] {
  const parts = parse(value) ?? value
  const content = Array.isArray(parts)
    ? parts.filter(isRecord).map(readPart)
    : typeof parts === 'string'
      ? [{ type: 'text' as const, text: parts }]
      : []
  return content.length > 0 ? [{ role: 'system', content }] : []
}

function messagesOf(value: unknown): Message[] {
  return listOf(parse(value)).filter(isRecord).flatMap(readMessage)
}

/** Each result of a tool becomes a message of its own. */
function readMessage({ role, parts, name, finish_reason }: Fields): Message[] {
  const finishReason = finishReasonOf(finish_reason)
  const given = listOf(parts).filter(isRecord)
  const about = { role: role as Role, ...defined({ name: textOf(name), finishReason }) }
  if (given.length === 0) return [{ ...about, content: [] }]
  return toMessages(about, given, (part) => {
    const fields = fieldsOf(part)
    return fields.type === 'tool_call_response' ? readAnswer(fields, textOf(name)) : readPart(fields)
  })
}

function readAnswer({ id, name, response, result = response }: Fields, speaker: string | undefined): Message {
  const list = Array.isArray(result) && result.length > 0 && result.every(isPart) ? result : undefined
  return {
    role: 'tool',
    ...defined({ name: textOf(name) ?? speaker, toolCallId: textOf(id) }),
    content: list?.map(readPart) ?? [{ type: 'text', text: toText(result) }],
  }
}

const isPart = (value: unknown): value is Fields => isRecord(value) && typeof value.type === 'string'

function readPart(part: Fields): ContentBlock {
  const { type, id, name, content } = part
  const own = defined({ id: textOf(id) })
  switch (type) {
    case 'text':
    case 'reasoning':
      return { type, text: toText(content ?? part.text) }
    case 'tool_call': {
      const { arguments: args } = part
      // Some libraries write the arguments as JSON text.
      const parsed = isRecord(args) ? { args } : parseToolArgs(toText(args))
      if (!('error' in parsed)) return { type: 'toolCall', ...own, name: toText(name), args: parsed.args }
      const error = 'The arguments are not a JSON object.'
      const named = name ? { name: toText(name) } : undefined
      return { type: 'invalidToolCall', ...own, ...named, args: toText(args), error }
    }
    case 'server_tool_call': {
      const { arguments: args } = fieldsOf(part.server_tool_call)
      return { type: 'serverToolCall', ...own, name: toText(name), args: fieldsOf(args) }
    }
    case 'server_tool_call_response': {
      const { status, output } = fieldsOf(part.server_tool_call_response)
      return toResult(id, status === 'error', output)
    }
    case 'blob':
    case 'file':
    case 'uri':
      return readMedia(part)
    case 'non_standard':
      return { type: 'nonStandard', value: part.value }
    default:
      return { type: 'nonStandard', value: part }
  }
}

function readMedia({ modality, mime_type, content, file_id, uri }: Fields): ContentBlock {
  const known = modality === 'image' || modality === 'audio' || modality === 'video'
  return {
    type: known ? (modality as MediaType) : 'file',
    ...defined({
      base64: textOf(content),
      fileId: textOf(file_id),
      url: textOf(uri) || undefined,
      mimeType: textOf(mime_type),
    }),
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function parse(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined // Another library has written text that is not JSON.
  }
}
