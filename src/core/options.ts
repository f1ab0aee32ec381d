import { AgentwireError } from './errors.ts'
import { nearest } from './nearest.ts'

/**
 * The kinds of values that an option takes, with the words for error messages. `required` is a flag, not a
 * kind, and can be combined with kinds.
 */
const KINDS = {
  string: 'a string',
  number: 'a number',
  positive: 'a number above 0',
  boolean: 'true or false',
  false: 'false',
  function: 'a function',
  object: 'an object',
  list: 'an array',
  any: '',
  store: 'a store, such as the one that openStorage() from agentwire/storage opens',
  saver: 'a checkpointer, such as the one that openStorage() from agentwire/storage opens',
  handler: 'a handler, such as the one that createControlPlaneHandler() returns',
  required: '',
} as const

/** Kinds that are recognized by one of their methods. */
const METHODS: { readonly [Name in KindName]?: string } = {
  store: 'commit',
  saver: 'getTuple',
  handler: 'handle',
}

function isOf(kind: KindName, value: unknown): boolean {
  const method = METHODS[kind]
  if (method) return typeof Object(value)[method] === 'function'
  if (kind === 'any') return true
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'object') return isObject(value) && !Array.isArray(value)
  if (kind === 'positive') return typeof value === 'number' && value > 0
  return kind === 'false' ? value === false : typeof value === kind && !Number.isNaN(value)
}

type KindName = keyof typeof KINDS

/** What an option takes: a kind, a table of nested options, or a list of alternatives. */
type Kind = KindName | Table | readonly (KindName | Table)[]

/** Options by name. The name `*` matches all other names, such as the keys of a record, a map or a list. */
export interface Table {
  readonly [name: string]: Kind
}

type KeysOf<Options> = Options extends unknown ? keyof Options : never

type ValueOf<Options, Name> = Options extends { readonly [Known in Name & PropertyKey]?: infer Value }
  ? Value
  : never

/** The kinds that a table may use for a type. */
type KindOf<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number' | 'positive'
    : Value extends boolean
      ? 'boolean' | 'false'
      : Value extends (...given: never) => unknown
        ? 'function'
        : Value extends readonly unknown[]
          ? 'list' | Table
          : 'object' | 'store' | 'saver' | 'handler' | Table

type KindsOf<Value> = 'any' | KindOf<Value> | readonly ('required' | KindOf<Value>)[]

/** A table with exactly the names of an options type, each with a kind that fits its type. */
export type OptionTable<Options> = {
  readonly [Name in KeysOf<Options>]-?: KindsOf<NonNullable<ValueOf<Options, Name>>>
}

/** The other fields of a storage, for options that spread one: `{ agents, ...await openStorage(url) }`. */
export const STORAGE_PARTS: Table = {
  store: 'store',
  checkpointer: 'saver',
  setup: 'function',
  report: 'function',
  close: 'function',
}

/**
 * Checks the options that a user passed, so that a misspelled name is an error and is not ignored.
 * `undefined` counts as absent. Instances of classes may have additional fields. Throws `AgentwireError`
 * `invalid_argument`.
 */
export function checkOptions(name: string, options: unknown, ...tables: readonly Table[]): void {
  const table: Table = Object.assign({}, ...tables)
  if (!isObject(options ?? {}))
    throw invalid(`${name}: its options must be an object, not ${wordOf(options)}.`)
  checkTable(name, '', options ?? {}, table)
}

/** Checks what an adapter mounts. Throws `AgentwireError` `invalid_argument`. */
export function checkHandler(name: string, handler: unknown): void {
  if (!isOf('handler', handler))
    throw invalid(`${name} takes a server, such as createAgentServer({ agents }), not ${wordOf(handler)}.`)
}

function checkTable(name: string, path: string, options: object, table: Table): void {
  const entries: Iterable<readonly [string, unknown]> =
    options instanceof Map ? options : Object.entries(options)
  for (const [key, value] of entries) {
    if (value === undefined) continue
    const kind = Object.hasOwn(table, key) ? table[key] : table['*']
    if (kind !== undefined) checkKind(name, path + key, value, [kind].flat() as readonly (KindName | Table)[])
    else if (isPlain(options)) {
      const meant = nearest(key, Object.keys(table)) ?? nested(key, table)
      const hint = meant === undefined ? '' : ` Did you mean ${path}${meant}?`
      throw invalid(`${name}: unknown option ${path}${key}.${hint}`)
    }
  }
  for (const [key, kind] of Object.entries(table)) {
    const isMissing =
      [kind].flat().includes('required') && (options as Record<string, unknown>)[key] === undefined
    if (isMissing) throw invalid(`${name}: ${path}${key} is missing. It must be ${wordsOf(kind)}.`)
  }
}

function checkKind(name: string, path: string, value: unknown, kinds: readonly (KindName | Table)[]): void {
  if (kinds.some((kind) => typeof kind === 'string' && isOf(kind, value))) return
  const table = kinds.find((kind) => typeof kind === 'object')
  if (table && isObject(value)) checkTable(name, `${path}.`, value, table)
  else throw invalid(`${name}: ${path} must be ${wordsOf(kinds)}, not ${wordOf(value)}.`)
}

const wordsOf = (kind: Kind): string =>
  ([kind].flat() as readonly (KindName | Table)[])
    .map((one) => (typeof one === 'string' ? KINDS[one] : 'an object'))
    .filter((words) => words !== '')
    .join(' or ')

const wordOf = (value: unknown): string => {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'this object' : `a ${typeof value}`
}

const invalid = (message: string): AgentwireError => new AgentwireError('invalid_argument', message)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Also true for a plain object of another realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The path of an option with this name one level below: `http.cors` for `cors`. */
function nested(name: string, table: Table): string | undefined {
  const group = Object.keys(table).find((known) =>
    [table[known]!].flat().some((kind) => Object.hasOwn(Object(kind), name)),
  )
  return group && `${group}.${name}`
}
