import type { ContentBlock } from '../content.ts'
import type { BlockPatch, Delta, MessageEvent } from '../events.ts'
import { defined, type Fields, filterFields, nonEmpty } from '../record.ts'
import { decodeBlock, type WireBlock } from './blocks.ts'
import type { WireDelta, WireMessageEvent } from './events.ts'
import { REASONS, ROLES } from './messages.ts'
import { fromWire, type WireNames } from './names.ts'
import { decodeUsage } from './usage.ts'

/** Decodes the events of one message. */
export interface MessageDecoder {
  /** The message events for one event of the channel. Text and arguments are increments, never repeated. */
  push(data: WireMessageEvent): readonly MessageEvent[]
}

const CHUNK = /_chunk$/

/** The fields of a `block-delta` with a name in the normal form. All others are extras. */
const PATCH: WireNames = {
  id: 'id',
  name: 'name',
  url: 'url',
  fileId: 'file_id',
  mimeType: 'mime_type',
  status: 'status',
  output: 'output',
}

/** What was decoded of a message so far, by the index of its blocks. */
interface Decoding {
  /** The arguments of unfinished calls received so far. */
  readonly args: Map<number, string>
  /** The number of annotations of each text. */
  readonly annotations: Map<number, number>
  /** Blocks without a type in the normal form. They are sent whole each time they grow. */
  readonly unknown: Map<number, Record<string, unknown>>
}

/**
 * Decodes the events of one message on the `messages` channel: the inverse of `createMessageEncoder`. A block
 * that starts again replaces the previous one, because its content is complete.
 */
export function createMessageDecoder(): MessageDecoder {
  const decoding: Decoding = { args: new Map(), annotations: new Map(), unknown: new Map() }
  return { push: (data) => decode(decoding, data) }
}

function decode(decoding: Decoding, data: WireMessageEvent): readonly MessageEvent[] {
  switch (data.event) {
    case 'message-start': {
      const { role = 'ai', id, name, tool_call_id: toolCallId, metadata } = data
      return [{ type: 'messageStart', ...defined({ role: ROLES.get(role), id, name, toolCallId, metadata }) }]
    }
    case 'content-block-start':
      return start(decoding, data.index, data.content)
    case 'content-block-delta':
      return append(decoding, data.index, data.delta)
    case 'content-block-finish':
      return [{ type: 'blockFinish', index: data.index, block: decodeBlock(data.content) }]
    case 'usage': {
      const usage = decodeUsage(data.usage)
      return usage ? [{ type: 'usage', usage }] : []
    }
    case 'message-finish': {
      const { reason, usage, responseMetadata: metadata } = data
      const about = { reason: REASONS.get(reason), usage: decodeUsage(usage), metadata }
      return [{ type: 'messageFinish', ...defined(about) }]
    }
    case 'error': {
      const { message, code } = data
      return [{ type: 'error', message, ...defined({ code }) }]
    }
    default:
      return []
  }
}

function start(
  { args, annotations, unknown }: Decoding,
  index: number,
  content: WireBlock,
): readonly MessageEvent[] {
  const isChunk = CHUNK.test(content.type)
  const whole = isChunk ? { ...content, type: content.type.replace(CHUNK, ''), args: {} } : content
  const block = decodeBlock(whole)
  args.set(index, '')
  annotations.set(index, annotationsOf(block).length)
  if (block.type === 'nonStandard') unknown.set(index, { ...content })
  else unknown.delete(index)
  return [{ type: 'blockStart', index, block }, ...moreArgs(args, index, isChunk && content.args)]
}

/** `whole` is the complete text of the arguments so far. */
function moreArgs(args: Map<number, string>, index: number, whole: unknown): readonly MessageEvent[] {
  if (typeof whole !== 'string') return []
  const before = args.get(index) ?? ''
  args.set(index, whole)
  const goesOn = whole.startsWith(before)
  const more = goesOn ? whole.slice(before.length) : whole
  return [
    ...(goesOn ? [] : [deltaOf(index, { type: 'fields', fields: { args: {} } })]),
    ...(more === '' ? [] : [deltaOf(index, { type: 'args', args: more })]),
  ]
}

function append(decoding: Decoding, index: number, delta: WireDelta): readonly MessageEvent[] {
  const other = decoding.unknown.get(index)
  if (other) {
    appendDelta(other, delta)
    return [{ type: 'blockStart', index, block: decodeBlock({ ...other }) }]
  }
  switch (delta.type) {
    case 'text-delta':
      return [deltaOf(index, { type: 'text', text: delta.text })]
    case 'reasoning-delta':
      return [deltaOf(index, { type: 'reasoning', text: delta.reasoning })]
    case 'data-delta':
      return [deltaOf(index, { type: 'data', base64: delta.data })]
    case 'block-delta':
      return patch(decoding, index, delta.fields)
    default:
      return []
  }
}

function patch(
  { args, annotations }: Decoding,
  index: number,
  { type: _, args: whole, annotations: all, ...others }: Fields,
): readonly MessageEvent[] {
  const fields = patchOf(others)
  const count = annotations.get(index) ?? 0
  const fresh = annotationsOf(decodeBlock({ type: 'text', text: '', annotations: all })).slice(count)
  annotations.set(index, count + fresh.length)
  return [
    ...(fields ? [deltaOf(index, { type: 'fields', fields })] : []),
    ...fresh.map((annotation) => deltaOf(index, { type: 'annotation', annotation })),
    ...moreArgs(args, index, whole),
  ]
}

/** The field that each type of delta appends to. LangGraph 1.7 sends arguments in slices. */
const PIECES: Readonly<Record<string, string>> = {
  'text-delta': 'text',
  'reasoning-delta': 'reasoning',
  'data-delta': 'data',
  'tool-call-delta': 'args',
}

/** Adds a delta to a block in wire form. Tool calls have their arguments as text. */
export function appendDelta(block: Record<string, unknown>, delta: Fields): void {
  if (delta.type === 'block-delta') Object.assign(block, delta.fields)
  const name = PIECES[delta.type as string]
  if (!name) return
  const field = delta.type === 'reasoning-delta' && block.type === 'thinking' ? 'thinking' : name
  block[field] = `${block[field] ?? ''}${delta[name] ?? ''}`
}

const deltaOf = (index: number, delta: Delta): MessageEvent => ({ type: 'blockDelta', index, delta })

const annotationsOf = (block: ContentBlock) => (block.type === 'text' && block.annotations) || []

function patchOf({ extras: nested, ...fields }: Fields): BlockPatch | undefined {
  const known = Object.values(PATCH)
  const flat = filterFields(fields, (key) => !known.includes(key))
  const extras = nonEmpty({ ...flat, ...(nested as object | undefined) })
  return nonEmpty({ ...fromWire(fields, PATCH, (value) => value), ...defined({ extras }) })
}
