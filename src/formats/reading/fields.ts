import { isRecord } from '../../messages/record.ts'

/** An object as a provider sent it: nothing is known about its fields. */
export type Fields = Readonly<Record<string, unknown>>

const NONE: Fields = {}
const NO_ITEMS: readonly unknown[] = []

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : NONE)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NO_ITEMS)

/** The text; none for what is no text. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What should be a text, as one. */
export const toText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/**
 * A set of names, from a list with spaces, and those of another set. Like all functions that make constants it is marked for bundlers, which leave out
 * the constants that nothing uses, and with them the formats.
 */
/* @__NO_SIDE_EFFECTS__ */
export function names(list: string, more: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  return new Set([...list.split(' '), ...more])
}

/** Looks up what a wire name means: from lists of the wire names for each meaning. */
/* @__NO_SIDE_EFFECTS__ */
export function meanings<Meaning extends string>(
  lists: Readonly<Record<Meaning, string>>,
): ReadonlyMap<unknown, Meaning> {
  const found = new Map<unknown, Meaning>()
  for (const meaning in lists) for (const name of lists[meaning].split(' ')) found.set(name, meaning)
  return found
}

/** Whether a field says anything. `__proto__` is no field: assigning it would change what the object is. */
export const says = (key: string, value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && key !== '__proto__'

/** Adds the fields that are not `known`, as they are. Gives undefined while there is nothing. */
export function collect(
  into: Record<string, unknown> | undefined,
  fields: Fields,
  known: ReadonlySet<string>,
): Record<string, unknown> | undefined {
  for (const key in fields) {
    const value = fields[key]
    if (says(key, value) && !known.has(key)) (into ??= {})[key] = value
  }
  return into
}

/**
 * A value with the names of a list in the spelling of the list, however they are spelt: `toolCalls` and `tool_calls` are one.
 * What has another name stays as it is, to its depths.
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

/** The names that `respell` looks for. */
/* @__NO_SIDE_EFFECTS__ */
export function spellings(list: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of list.split(' '))
    for (const spelling of [name, toSnake(name), name.replace(/_./g, (pair) => pair[1]!.toUpperCase())])
      found.set(spelling, name)
  return found
}

/** A name in snake_case. */
export const toSnake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Text that comes in pieces, wherever it stands; other text comes whole. */
const PIECES = names('text summary transcript input code diff command')

/** Merges what a delta says into what is known, and copies what it takes. Lists grow; items with the same `index` are one. */
export function merge(into: Record<string, unknown>, delta: Fields): Record<string, unknown> {
  for (const key in delta) {
    const value = delta[key]
    const before = Object.hasOwn(into, key) ? into[key] : undefined
    if (!says(key, value) && (before !== undefined || key === '__proto__')) continue
    if (Array.isArray(value)) {
      const items = (into[key] = Array.isArray(before) ? before : [])
      for (const item of value) {
        const { index } = fieldsOf(item)
        const same = index !== undefined && items.find((other) => fieldsOf(other).index === index)
        if (same) merge(same, item)
        else items.push(isRecord(item) ? merge({}, item) : item)
      }
    } else if (isRecord(value)) into[key] = merge(isRecord(before) ? before : {}, value)
    else into[key] = typeof before === 'string' && PIECES.has(key) ? before + value : value
  }
  return into
}
