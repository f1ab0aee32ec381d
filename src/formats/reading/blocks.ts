import type { Annotation, ContentBlock, ToolCallBlock } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { parseToolArgs, withRawArgs } from '../../messages/tool-args.ts'
import { type Fields, fieldsOf, meanings, names, says, stringOf, toText } from './fields.ts'

/** What a format calls blocks and their fields. */
export interface Words {
  /** The kind of block by wire type. Where the wire type stands with `!` before it, it stays known as `extras.type`. */
  readonly types: ReadonlyMap<unknown, ContentBlock['type']>
  /** The normal name by wire name, where the two differ. */
  readonly fields: ReadonlyMap<unknown, string>
}

const CALL = names('id name args')
const MEDIA = names('id url base64 mimeType fileId')
const CITATION = names('url title startIndex endIndex citedText')
/** The fields that blocks have, but for media. */
const OWN: Readonly<Record<string, ReadonlySet<string>>> = {
  text: names('id text annotations'),
  reasoning: names('id text'),
  toolCall: CALL,
  serverToolCall: CALL,
}

/**
 * Reads a block. A string is a text; what is unknown is kept whole.
 *
 * @param about More fields of the block.
 * @param partial The raw arguments of a call are on their way: their text is left to the caller.
 */
export function readBlock(value: unknown, words: Words, partial?: boolean, about?: Fields): ContentBlock {
  if (typeof value === 'string') return { type: 'text', text: value }
  const wire = fieldsOf(value)
  const kind = wire.type
  const plain = words.types.get(kind)
  const type = plain ?? words.types.get(`!${stringOf(kind)}`)
  if (!type) return { type: 'nonStandard', value }
  const block: Record<string, unknown> = { type }
  const extras: Record<string, unknown> = plain ? {} : { type: kind }
  const own = OWN[type] ?? MEDIA
  if (about) fill(block, extras, about, own, words.fields)
  fill(block, extras, wire, own, words.fields)
  for (const _ in extras) {
    block.extras = extras
    break
  }
  if (own === CALL) {
    const { id, name, args } = block
    return toCall(type as 'toolCall', id, name, partial && !isRecord(args) ? undefined : args, block.extras)
  }
  if (own === MEDIA) readSource(block, extras)
  else block.text ??= ''
  return block as unknown as ContentBlock
}

/** Fields with a place of their own go there, those of a nested object of the same name as the block too, others to `extras`. */
function fill(
  into: Record<string, unknown>,
  extras: Record<string, unknown>,
  from: Fields,
  own: ReadonlySet<string>,
  words: ReadonlyMap<unknown, string>,
  kind = from.type,
): void {
  for (const key in from) {
    const value = from[key]
    if (!says(key, value) || key === 'type') continue
    const name = words.get(key) ?? key
    const list = Array.isArray(value) && (name === 'text' || name === 'annotations')
    const fits =
      typeof value === 'string' || list || name === 'args' || (own === CITATION && typeof value === 'number')
    if (isRecord(value) && (key === kind || key === 'source')) fill(into, extras, value, own, words, kind)
    else if (!own.has(name) || into[name] !== undefined || !fits) extras[key] = value
    else if (!list) into[name] = value
    else if (name === 'text') into[name] = value.map((part) => stringOf(fieldsOf(part).text)).join('')
    else if (value.length > 0) into[name] = value.map(readCitation)
  }
}

/** A call. Arguments may be an object, or its JSON. */
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

/** Data URLs are no addresses: their data and MIME type have fields of their own. */
function readSource(block: Record<string, unknown>, extras: Record<string, unknown>): void {
  const [, mimeType, base64] =
    /^data:([^;,]*).*?;base64,(.*)$/s.exec(stringOf(block.url ?? block.base64)) ?? []
  if (base64 !== undefined) {
    delete block.url
    block.base64 = base64
    if (mimeType) block.mimeType = mimeType
  }
  if (extras.format) block.mimeType ??= `${block.type}/${stringOf(extras.format)}`
}

const CITED = meanings({
  url: 'source uri',
  title: 'document_title filename',
  startIndex: 'start_index start',
  endIndex: 'end_index end',
  citedText: 'cited_text text',
})

/** Reads an annotation of any provider. Its own word for it stays in `extras.type`. */
export function readCitation(value: unknown): Annotation {
  if (!isRecord(value)) return { type: 'nonStandard', value }
  const citation: Record<string, unknown> = { type: 'citation' }
  const extras = { type: value.type }
  fill(citation, extras, value, CITATION, CITED)
  return { ...citation, extras } as unknown as Annotation
}
