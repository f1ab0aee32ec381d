import type {
  Annotation,
  ContentBlock,
  InvalidToolCallBlock,
  MediaBlock,
  ToolCallBlock,
} from '../../messages/index.ts'
import { type Fields, isRecord } from '../../messages/record.ts'

export type { Fields }

const NO_FIELDS: Fields = {}
const NO_ITEMS: readonly unknown[] = []

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : NO_FIELDS)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NO_ITEMS)

/** A list of the values, if a single value may stand for a list of one. */
export const manyOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value ? [value] : NO_ITEMS

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The value as text: a string as it is, nothing as `''`, anything else as JSON. */
export const toText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/**
 * A set of the names in a list separated by spaces, and those of another set. The annotation lets bundlers
 * drop the constants of formats that are not imported.
 */
/* @__NO_SIDE_EFFECTS__ */
export function names(list: string, more: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  return new Set([...list.split(' '), ...more])
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Inverts lists of wire names, separated by spaces, into a map from each name to the key of its list. */
/* @__NO_SIDE_EFFECTS__ */
export function byWireName<Name extends string>(
  lists: Readonly<Record<Name, string>>,
): ReadonlyMap<unknown, Name> {
  const found = new Map<unknown, Name>()
  for (const name in lists) for (const wireName of lists[name].split(' ')) found.set(wireName, name)
  return found
}

/** Whether a field has a value. Assigning `__proto__` would change the prototype of the copy. */
export const hasValue = (key: string, value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && key !== '__proto__'

/** Does not create a list of the names, because it is called for every chunk. */
export function isEmpty(fields: Fields): boolean {
  for (const _ in fields) return false
  return true
}

/** Copies fields that have a value and are not `known`. Undefined if there are none and no `into`. */
export function collect(
  into: Record<string, unknown> | undefined,
  fields: Fields,
  known = NO_NAMES,
): Record<string, unknown> | undefined {
  for (const key in fields) {
    const value = fields[key]
    if (hasValue(key, value) && !known.has(key)) (into ??= {})[key] = value
  }
  return into
}

/**
 * Copies a value and respells its field names as in the list, such as `toolCalls` to `tool_calls`. Fields
 * that are not listed stay as they are, with everything in them.
 */
export function respell(value: unknown, spellings: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => respell(item, spellings))
  if (!isRecord(value)) return value
  const spelt: Record<string, unknown> = {}
  for (const key in value) {
    const name = spellings.get(key)
    if (name) spelt[name] = respell(value[key], spellings)
    else if (key !== '__proto__') spelt[key] = value[key]
  }
  return spelt
}

/** The snake_case and camelCase spellings of the listed names, for `respell`. */
/* @__NO_SIDE_EFFECTS__ */
export function spellings(list: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of list.split(' '))
    for (const spelling of [name, toSnake(name), name.replace(/_./g, (pair) => pair[1]!.toUpperCase())])
      found.set(spelling, name)
  return found
}

export const toSnake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The fields whose text is streamed in pieces, at any depth. The text of other fields is sent whole. */
const PIECES = names('text summary transcript input code diff command')

/**
 * Merges copies of a delta's fields into `into`. Lists are appended; items of one `index` and type merged.
 */
export function merge(into: Record<string, unknown>, delta: Fields): Record<string, unknown> {
  for (const key in delta) {
    const value = delta[key]
    const before = Object.hasOwn(into, key) ? into[key] : undefined
    if (!hasValue(key, value) && (before !== undefined || key === '__proto__')) continue
    if (Array.isArray(value)) {
      const items = (into[key] = Array.isArray(before) ? before : [])
      for (const item of value) {
        const { index, type } = fieldsOf(item)
        const same =
          index !== undefined &&
          items.find((other) => other.index === index && (!type || !other.type || other.type === type))
        if (same) merge(same, item)
        else items.push(isRecord(item) ? merge({}, item) : item)
      }
    } else if (isRecord(value)) into[key] = merge(isRecord(before) ? before : {}, value)
    else into[key] = typeof before === 'string' && PIECES.has(key) ? before + value : value
  }
  return into
}

export function dropUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  for (const key in fields) if (fields[key] === undefined) delete fields[key]
  return fields
}

export const nonEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length > 0 ? items : undefined

/** The URL of a media block. Base64 becomes a data URL. */
export const urlOf = ({ url, base64, mimeType = '' }: MediaBlock): string | undefined =>
  base64 === undefined ? url : `data:${mimeType};base64,${base64}`

/** The arguments of a call as JSON. Invalid arguments stay as the model wrote them. */
export const argsOf = ({ args }: ToolCallBlock | InvalidToolCallBlock): string =>
  typeof args === 'string' ? args : JSON.stringify(args)

/** A block that the format cannot express: as the provider sent it if known, otherwise in the normal form. */
export const asIs = (block: ContentBlock): unknown => (block.type === 'nonStandard' ? block.value : block)

export function writeCitation(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return annotation.value
  const { url, title, startIndex, endIndex, citedText, extras } = annotation
  const type = extras?.type ?? 'url_citation'
  return dropUndefined({
    ...extras,
    type,
    url,
    [type === 'url_citation' ? 'title' : 'filename']: title,
    start_index: startIndex,
    end_index: endIndex,
    cited_text: citedText,
  })
}
