import { toResult } from '../../formats/reading/blocks.ts'
import { finishReasonOf } from '../../formats/reading/draft.ts'
import { type Fields, fieldsOf, listOf, toText } from '../../formats/reading/fields.ts'
import {
  type ContentBlock,
  decodeUsage,
  type FinishReason,
  type MediaType,
  type Message,
  type Role,
  type Usage,
} from '../../messages/index.ts'
import { defined, isRecord } from '../../messages/record.ts'

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
  const provider = attributes['gen_ai.system'] ?? attributes['gen_ai.provider.name']
  const model = attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model']
  const usage = usageOf(attributes)
  const reasons = listOf(parse(attributes['gen_ai.response.finish_reasons'])).map((raw) =>
    finishReasonOf(raw),
  )
  const output = messagesOf(attributes['gen_ai.output.messages'])
  return {
    input: messagesOf(attributes['gen_ai.input.messages']),
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
  const [input_tokens, output_tokens] = ['input', 'output'].map(
    (side) => attributes[`gen_ai.usage.${side}_tokens`],
  )
  if (input_tokens === undefined && output_tokens === undefined) return undefined
  const details = (side: string) => {
    const found: Record<string, unknown> = {}
    for (const [name, count] of Object.entries(attributes)) {
      const key = new RegExp(`^gen_ai\\.usage\\.(\\w+)\\.${side}_tokens$`).exec(name)?.[1]
      if (key) found[key] = count
    }
    return Object.keys(found).length > 0 ? found : undefined
  }
  return decodeUsage({
    input_tokens,
    output_tokens,
    input_token_details: details('input'),
    output_token_details: details('output'),
  })
}

function messagesOf(value: unknown): Message[] {
  return listOf(parse(value)).filter(isRecord).map(readMessage)
}

function readMessage({ role, parts, name, finish_reason }: Fields): Message {
  const given = listOf(parts).filter(isRecord)
  const [answer] = given
  const finishReason = finishReasonOf(finish_reason)
  const about = { role: role as Role, ...defined({ name: textOf(name), finishReason }) }
  if (answer?.type !== 'tool_call_response') return { ...about, content: given.map(readPart) }
  const { id, response } = answer
  const list = Array.isArray(response) ? response.filter(isRecord) : undefined
  return {
    ...about,
    ...defined({ toolCallId: textOf(id) }),
    content: list?.map(readPart) ?? [{ type: 'text', text: toText(response) }],
  }
}

function readPart(part: Fields): ContentBlock {
  const { type, id, name, content } = part
  const own = defined({ id: textOf(id) })
  switch (type) {
    case 'text':
    case 'reasoning':
      return { type, text: toText(content) }
    case 'tool_call': {
      const { arguments: args } = part
      if (isRecord(args)) return { type: 'toolCall', ...own, name: toText(name), args }
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
