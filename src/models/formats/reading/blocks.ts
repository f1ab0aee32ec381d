import { splitDataUrl } from '../../../messages/content.ts'
import type {
  Annotation,
  ContentBlock,
  ServerToolResultBlock,
  ToolCallBlock,
} from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { parseToolArgs, withRawArgs } from '../../../messages/tool-args.ts'
import { byWireName, type Fields, fieldsOf, hasValue, isEmpty, names, stringOf, toText } from '../fields.ts'

/** The names that a format has for blocks and their fields. */
export interface BlockVocabulary {
  readonly types: ReadonlyMap<unknown, ContentBlock['type']>
  /** The same for wire types that say more than the block type does. `extras.type` keeps them. */
  readonly keptTypes: ReadonlyMap<unknown, ContentBlock['type']>
  /** The normal name for each wire name, where the two differ. */
  readonly fields: ReadonlyMap<unknown, string>
}

/**
 * Makes a vocabulary from lists of wire names, separated by spaces.
 *
 * @param keptTypes The lists of the wire types that are kept in `extras.type`.
 */
/* @__NO_SIDE_EFFECTS__ */
export function vocabulary(
  types: WireNames,
  fields: Readonly<Record<string, string>>,
  keptTypes: WireNames = {},
): BlockVocabulary {
  return {
    types: byWireName(types as Record<ContentBlock['type'], string>),
    fields: byWireName(fields),
    keptTypes: byWireName(keptTypes as Record<ContentBlock['type'], string>),
  }
}

type WireNames = Readonly<Partial<Record<ContentBlock['type'], string>>>

const CALL = names('id name args')
const MEDIA = names('id url base64 mimeType fileId')
const CITATION = names('url title startIndex endIndex citedText')
/** The fields of each block type. A type that is not listed is a media block. */
const OWN: Readonly<Record<string, ReadonlySet<string>>> = {
  text: names('id text annotations'),
  reasoning: names('id text'),
  toolCall: CALL,
  serverToolCall: CALL,
}

/**
 * Reads a block. A string becomes a text block; a block of an unknown type is kept whole as `nonStandard`.
 *
 * @param partial The arguments of a call are still streaming, so the caller collects their raw text.
 * @param about More fields of the block.
 */
export function readBlock(
  value: unknown,
  { types, keptTypes, fields }: BlockVocabulary,
  partial?: boolean,
  about?: Fields,
): ContentBlock {
  if (typeof value === 'string') return { type: 'text', text: value }
  const wire = fieldsOf(value)
  const plain = types.get(wire.type)
  const type = plain ?? keptTypes.get(wire.type)
  if (!type) return { type: 'nonStandard', value }
  const block: Record<string, unknown> = { type }
  const extras: Record<string, unknown> = plain ? {} : { type: wire.type }
  const own = OWN[type] ?? MEDIA
  if (about) fill(block, extras, about, own, fields)
  fill(block, extras, wire, own, fields)
  if (!isEmpty(extras)) block.extras = extras
  if (own === CALL) {
    const { id, name, args } = block
    return toCall(type as 'toolCall', id, name, partial && !isRecord(args) ? undefined : args, block.extras)
  }
  if (own === MEDIA) readSource(block, extras)
  else block.text ??= ''
  return block as unknown as ContentBlock
}

/**
 * Copies the fields that the block type has into the block, and all others into `extras`. An object called
 * `source` or like the wire type is flattened, because providers nest fields in it.
 */
function fill(
  into: Record<string, unknown>,
  extras: Record<string, unknown>,
  from: Fields,
  own: ReadonlySet<string>,
  names: ReadonlyMap<unknown, string>,
  kind = from.type,
): void {
  for (const key in from) {
    const value = from[key]
    if (!hasValue(key, value) || key === 'type') continue
    const name = names.get(key) ?? key
    const list = Array.isArray(value) && (name === 'text' || name === 'annotations')
    const fits =
      typeof value === 'string' || list || name === 'args' || (own === CITATION && typeof value === 'number')
    if (isRecord(value) && (key === kind || key === 'source')) fill(into, extras, value, own, names, kind)
    else if (!own.has(name) || into[name] !== undefined || !fits) extras[key] = value
    else if (!list) into[name] = value
    else if (name === 'text') {
      into[name] = value.map((part) => stringOf(fieldsOf(part).text)).join('')
      const others = value.filter((part) => fieldsOf(part).text === undefined)
      if (others.length > 0) extras[key] = others
    } else if (value.length > 0) into[name] = value.map(readCitation)
  }
}

/** Makes a call block. The arguments are an object or its JSON. */
export function toCall(
  type: 'toolCall' | 'serverToolCall',
  id: unknown,
  name: unknown,
  args: unknown,
  extras: unknown,
): ContentBlock {
  const none = args === undefined || args === null
  const parsed = none ? NO_ARGS : isRecord(args) ? { args } : parseToolArgs(toText(args))
  const valid = 'error' in parsed ? {} : parsed.args
  const block: Record<string, unknown> = id
    ? { type, id: toText(id), name: toText(name), args: valid }
    : { type, name: toText(name), args: valid }
  if (extras) block.extras = extras
  const call = block as unknown as ToolCallBlock
  return 'error' in parsed ? withRawArgs(call, parsed.args) : call
}

const NO_ARGS = { args: {} }

export const toResult = (
  toolCallId: unknown,
  failed: unknown,
  output: unknown,
  extras?: Fields,
): ServerToolResultBlock => ({
  type: 'serverToolResult',
  toolCallId: toText(toolCallId),
  status: failed ? 'error' : 'success',
  ...(output !== undefined && { output }),
  ...(extras && { extras }),
})

/** Splits a data URL into `base64` and `mimeType`, because `url` is for addresses that can be fetched. */
function readSource(block: Record<string, unknown>, extras: Record<string, unknown>): void {
  const inline = splitDataUrl(block.url ?? block.base64)
  if (inline) {
    delete block.url
    block.base64 = inline.base64
    if (inline.mimeType) block.mimeType = inline.mimeType
  }
  if (extras.format) block.mimeType ??= `${block.type}/${stringOf(extras.format)}`
}

const CITED = byWireName({
  url: 'source uri',
  title: 'document_title filename',
  startIndex: 'start_index start',
  endIndex: 'end_index end',
  citedText: 'cited_text text',
})

/** Reads an annotation of any provider, whose own name for it is kept in `extras.type`. */
export function readCitation(value: unknown): Annotation {
  if (!isRecord(value)) return { type: 'nonStandard', value }
  const citation: Record<string, unknown> = { type: 'citation' }
  const extras = { type: value.type }
  fill(citation, extras, value, CITATION, CITED)
  return { ...citation, extras } as unknown as Annotation
}
