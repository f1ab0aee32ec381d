import type { ContentBlock } from '../content.ts'
import { type FinishReason, isMessage, type Message, type Role } from '../message.ts'
import { defined, filterFields, isRecord, itemsOf, nonEmpty } from '../record.ts'
import { parseToolArgs } from '../tool-args.ts'
import { decodeBlock, encodeBlock, type WireBlock } from './blocks.ts'
import { WIRE_REASONS, WIRE_ROLES } from './events.ts'
import { typeOfClass } from './names.ts'
import { decodeUsage, encodeUsage } from './usage.ts'

/** A message in state, history and clients: LangChain's flat form, never its constructor envelope. */
export interface WireMessage {
  readonly type: string
  readonly id?: string
  readonly content: unknown
  readonly additional_kwargs?: Readonly<Record<string, unknown>>
  readonly response_metadata?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

const V1 = 'v1'

/**
 * Encodes a message. If the content is one plain text it becomes a string, otherwise standard content blocks.
 */
export function encodeMessage(message: Message): WireMessage {
  const { role, content, metadata, finishReason, usage } = message
  const { artifact, ...extras } = message.extras ?? {}
  const plain = plainText(content)
  const assistant = role === 'assistant' || role === 'reasoning'
  return {
    type: WIRE_ROLES[role],
    ...defined({ id: message.id, name: message.name }),
    content: plain ?? content.map(encodeBlock),
    additional_kwargs: artifact === undefined || role === 'tool' ? extras : { ...extras, artifact },
    response_metadata: {
      ...metadata,
      ...defined({ finish_reason: finishReason && WIRE_REASONS[finishReason] }),
      ...(assistant && plain === undefined && { output_version: V1 }),
    },
    ...(assistant && {
      tool_calls: content.filter(({ type }) => type === 'toolCall').map(encodeCall),
      invalid_tool_calls: content.filter(({ type }) => type === 'invalidToolCall').map(encodeCall),
      ...defined({ usage_metadata: usage && encodeUsage(usage) }),
    }),
    ...(role === 'tool' && {
      tool_call_id: message.toolCallId ?? '',
      ...defined({ status: message.status, artifact }),
    }),
  }
}

/** Decodes a message in any form that `toWireMessage` accepts. Undefined for anything else. */
export function decodeMessage(value: unknown): Message | undefined {
  const wire = toWireMessage(value)
  const role = wire && ROLES.get(wire.type)
  if (!wire || !role) return undefined
  const {
    finish_reason: reason,
    output_version: version,
    ...metadata
  }: Record<string, unknown> = wire.response_metadata ?? {}
  if (reason !== undefined && !REASONS.has(reason)) metadata.finish_reason = reason
  if (version !== undefined && version !== V1) metadata.output_version = version
  const extras = { ...wire.additional_kwargs, ...filterFields(wire, (key) => !KNOWN_FIELDS.has(key)) }
  return {
    role,
    content: decodeContent(wire),
    ...defined({
      id: wire.id,
      name: typeof wire.name === 'string' ? wire.name : undefined,
      toolCallId: role === 'tool' ? String(wire.tool_call_id ?? '') : undefined,
      status: wire.status === 'error' || wire.status === 'success' ? wire.status : undefined,
      finishReason: REASONS.get(reason),
      usage: decodeUsage(wire.usage_metadata),
      metadata: nonEmpty(metadata),
      extras: nonEmpty(extras),
    }),
  }
}

/**
 * Converts a message in any form that clients and developers use to the flat form: `{ type, content }`,
 * `{ role, content }`, `[role, content]`, `{ type, data }`, a plain string (user text), a LangChain message
 * or its envelope, or the normal form. Unknown fields are kept. Undefined for a value that is not a message.
 */
export function toWireMessage(value: unknown): WireMessage | undefined {
  if (typeof value === 'string') return flat('human', { content: value })
  if (Array.isArray(value)) {
    const [role, content] = value
    return value.length === 2 && typeof role === 'string' ? toWireMessage({ role, content }) : undefined
  }
  if (!isRecord(value)) return undefined
  if (isMessage(value)) return encodeMessage(value)
  if (typeof value.toJSON === 'function') return toWireMessage(value.toJSON())
  if (value.lc === 1 && isRecord(value.kwargs)) {
    const type = TYPES.get(typeOfClass(value.id))
    return type === undefined ? undefined : flat(type, value.kwargs)
  }
  const type = TYPES.get(value.type) ?? TYPES.get(value.role)
  if (!type) return undefined
  const { role: _, ...fields } = isRecord(value.data) && value.content === undefined ? value.data : value
  return flat(type, fields)
}

function flat(type: string, fields: Record<string, unknown>): WireMessage | undefined {
  const { id, content = '', additional_kwargs, response_metadata, ...others } = fields
  if (content !== null && typeof content !== 'string' && !Array.isArray(content)) return undefined
  return {
    ...others,
    type,
    ...(typeof id === 'string' && id !== '' && { id }),
    content: content ?? '',
    additional_kwargs: isRecord(additional_kwargs) ? additional_kwargs : {},
    response_metadata: isRecord(response_metadata) ? response_metadata : {},
    ...(type === 'ai' && toolCallFields(fields)),
  }
}

/** The tool calls in LangChain's shape. Calls in OpenAI's shape are converted. */
function toolCallFields({
  tool_calls,
  invalid_tool_calls,
}: Record<string, unknown>): Record<string, unknown> {
  const calls: unknown[] = []
  const invalid: unknown[] = [...itemsOf(invalid_tool_calls)]
  for (const call of itemsOf(tool_calls)) {
    if (!isRecord(call) || !isRecord(call.function)) {
      calls.push(call)
      continue
    }
    const { name } = call.function
    const { id = null } = call
    const { arguments: args } = call.function
    const parsed = isRecord(args) ? { args } : parseToolArgs(String(args ?? ''))
    if ('error' in parsed) invalid.push({ id, name, ...parsed, type: 'invalid_tool_call' })
    else calls.push({ id, name, ...parsed, type: 'tool_call' })
  }
  return { tool_calls: calls, invalid_tool_calls: invalid }
}

/**
 * The content with the calls that it lacks. A call replaces the provider's own block of the same id, such as
 * `tool_use`.
 */
function decodeContent({ content, tool_calls, invalid_tool_calls }: WireMessage): ContentBlock[] {
  const blocks = Array.isArray(content) ? content.map(decodeBlock) : content === '' ? [] : [asText(content)]
  const calls = [...callsOf(tool_calls, 'tool_call'), ...callsOf(invalid_tool_calls, 'invalid_tool_call')]
  if (calls.length === 0) return blocks
  const places = new Map<string, number[]>()
  for (const [at, block] of blocks.entries()) {
    const key = keyOf(block)
    const known = key === undefined ? undefined : places.get(key)
    if (known) known.push(at)
    else if (key !== undefined) places.set(key, [at])
  }
  for (const call of calls) {
    const key = keyOf(call)!
    const foreign = (call.id !== undefined && places.get(foreignKey(call.id))) || []
    const [known] = places.get(key) ?? []
    const [free = blocks.length] = foreign
    if (known !== undefined && free >= known) continue
    foreign.shift()
    places.set(key, [free])
    blocks[free] = call
  }
  return blocks
}

const asText = (content: unknown): ContentBlock => ({ type: 'text', text: String(content) })

const callsOf = (list: unknown, type: string): readonly ContentBlock[] =>
  itemsOf(list)
    .map((call) => decodeBlock({ ...(call as object), type }))
    .filter((call) => call.type !== 'nonStandard')

/** What tells one call from another: its id or, without one, its name and arguments. */
function keyOf(block: ContentBlock): string | undefined {
  if (block.type === 'nonStandard')
    return isRecord(block.value) && typeof block.value.id === 'string'
      ? foreignKey(block.value.id)
      : undefined
  if (block.type !== 'toolCall' && block.type !== 'invalidToolCall') return undefined
  const { type, id, name, args } = block
  return id === undefined ? JSON.stringify([type, name, args]) : `${type} ${id}`
}

const foreignKey = (id: string): string => ` ${id}`

const encodeCall = ({ extras: _, ...call }: ContentBlock): WireBlock => encodeBlock(call)

function plainText(content: readonly ContentBlock[]): string | undefined {
  if (content.length === 0) return ''
  const [block] = content
  if (content.length > 1 || block?.type !== 'text' || block.text === '') return undefined
  return block.id === undefined && !block.annotations && !block.extras ? block.text : undefined
}

const KNOWN_FIELDS = new Set([
  'type',
  'id',
  'name',
  'content',
  'additional_kwargs',
  'response_metadata',
  'tool_calls',
  'invalid_tool_calls',
  'usage_metadata',
  'tool_call_id',
  'status',
])

export const ROLES = new Map<string, Role>([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
])

const TYPES = new Map<unknown, string>([
  ['human', 'human'],
  ['user', 'human'],
  ['ai', 'ai'],
  ['assistant', 'ai'],
  ['AIMessageChunk', 'ai'],
  ['HumanMessageChunk', 'human'],
  ['system', 'system'],
  ['developer', 'system'],
  ['tool', 'tool'],
  ['function', 'tool'],
  ['remove', 'remove'],
])

export const REASONS = /* @__PURE__ */ new Map<unknown, FinishReason>(
  /* @__PURE__ */ Object.entries(WIRE_REASONS).map(([reason, wire]) => [wire, reason as FinishReason]),
)
