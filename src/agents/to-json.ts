import { typeOfClass } from '../messages/wire/names.ts'
import { encodeBase64 } from '../models/formats/reading/base64.ts'
import { isImmutable } from '../storage/checkpointer/config.ts'

/**
 * Converts any value to plain JSON, and never throws. Plain JSON is returned as it is, without a copy.
 *
 * - LangChain messages become flat objects, `{ type, content, id, … }`, also from their serialized envelope.
 * - `undefined`, functions and symbols are omitted from objects and become `null` in arrays, as do `NaN` and
 *   infinities.
 * - Values with `toJSON` become its result, errors `{ name, message }`, a `BigInt` its digits, maps objects
 *   (or lists of pairs if a key is not a string), sets lists, and bytes base64.
 * - A cycle becomes `'[circular]'`, a value that throws when it is read `'[unreadable]'`, and one that is
 *   nested too deep `'[too deep]'`.
 *
 * A message is converted once and remembered, because every step of an agent contains all earlier messages.
 */
export function toJson(value: unknown): unknown {
  return convert(value, []) ?? null
}

/**
 * The same for copies that are converted only once: remembering thousands of messages takes as long as
 * converting them.
 */
export function toJsonOnce(value: unknown): unknown {
  const path: Path = []
  path.isOnce = true
  return convert(value, path) ?? null
}

/** The objects around a value. */
type Path = object[] & { isOnce?: true }

type Fields = Record<string, unknown>

/** No real state is nested this deep, and the stack and `JSON.stringify` support much more. */
const MAX_DEPTH = 500
const UNREADABLE = '[unreadable]'

/** Returns `undefined` for a value without JSON. */
function convert(value: unknown, path: Path): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return String(value)
    case 'object':
      return value === null ? null : convertObject(value, path)
    default:
      return undefined
  }
}

function convertObject(value: object, path: Path): unknown {
  // A state or one of its fields: looking up every object would cost more than it saves.
  if (path.length < 2 && isImmutable(value)) return value
  if (path.includes(value)) return '[circular]'
  if (path.length === MAX_DEPTH) return '[too deep]'
  path.push(value)
  try {
    if (Array.isArray(value)) return convertArray(value, path)
    const prototype: unknown = Object.getPrototypeOf(value)
    return prototype === Object.prototype || prototype === null
      ? convertPlain(value as Fields, path)
      : convertInstance(value, path)
  } catch {
    return convertCarefully(value as Fields, path)
  } finally {
    path.pop()
  }
}

function convertArray(value: readonly unknown[], path: Path): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    const json = convert(item, path) ?? null
    if (copy === undefined && json !== item) copy = value.slice(0, at)
    copy?.push(json)
  }
  return copy ?? value
}

function convertPlain(value: Fields, path: Path): unknown {
  if (value.lc === 1 && value.type === 'constructor') return convertEnvelope(value, path)
  if (typeof value.toJSON === 'function') return convertInstance(value, path)
  const keys = Object.keys(value)
  let copy: Fields | undefined
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!
    const item = value[key]
    const json = convert(item, path)
    if (copy === undefined && (json === undefined || json !== item)) {
      copy = {}
      for (const before of keys.slice(0, at)) set(copy, before, value[before])
    }
    if (copy !== undefined && json !== undefined) set(copy, key, json)
  }
  return copy ?? value
}

function convertInstance(value: object, path: Path): unknown {
  if (isMessage(value)) return convertMessage(value, path)
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (value instanceof Map) return convertMap(value, path)
  if (value instanceof Set) return convertArray([...value], path)
  if (value instanceof ArrayBuffer) return encodeBase64(new Uint8Array(value))
  if (value instanceof Uint8Array) return encodeBase64(value)
  if (ArrayBuffer.isView(value)) {
    return value instanceof DataView
      ? encodeBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
      : convertArray([...(value as Iterable<number> & ArrayBufferView)], path)
  }
  if (value instanceof RegExp) return String(value)
  if (value instanceof String || value instanceof Number || value instanceof Boolean)
    return convert(value.valueOf(), path)
  const { toJSON } = value as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? convert(toJSON.call(value), path) : convertOwn(value as Fields, path)
}

function convertOwn(value: Fields, path: Path, read = readField): Fields {
  const copy: Fields = {}
  for (const key of Object.keys(value)) {
    const json = convert(read(value, key), path)
    if (json !== undefined) set(copy, key, json)
  }
  return copy
}

/** Converts an object with unreadable properties. Only those are lost. */
function convertCarefully(value: Fields, path: Path): unknown {
  try {
    return convertOwn(value, path, tryField)
  } catch {
    return UNREADABLE
  }
}

function convertMap(value: ReadonlyMap<unknown, unknown>, path: Path): unknown {
  const isObject = [...value.keys()].every((key) => typeof key === 'string')
  return isObject ? convertOwn(Object.fromEntries(value), path) : convertArray([...value], path)
}

/** The methods that LangChain messages of every version have. */
interface Message extends Fields {
  getType?(): string
  _getType?(): string
  toDict(): { readonly type: string; readonly data: Fields }
}

const isMessage = (value: object): value is Message => {
  const { toDict, getType, _getType } = value as Fields
  return typeof toDict === 'function' && (typeof getType === 'function' || typeof _getType === 'function')
}

/** Fields that may be set later, which `toDict` omits. A message is converted again if one changes. */
const LATE_FIELDS = [
  'content',
  'id',
  'name',
  'additional_kwargs',
  'response_metadata',
  'usage_metadata',
  'tool_calls',
] as const

interface Flattened {
  readonly seen: readonly unknown[]
  readonly json: Fields
  /** The fields whose value is a copy, which changes inside of the value do not reach. */
  readonly copied: readonly string[]
}

const flattened = new WeakMap<object, Flattened>()

function convertMessage(message: Message, path: Path): unknown {
  const known = flattened.get(message)
  if (known && isUnchanged(message, known.seen)) return withCopies(message, known, path)
  const fields = quickFields(message) ?? readFields(message)
  for (const key of LATE_FIELDS) fields[key] ??= message[key]
  const json = convertPlain(fields, path) as Fields
  if (path.isOnce) return json
  const copied = Object.keys(json).filter((key) => key in message && isCopied(fields[key], json[key]))
  flattened.set(message, { seen: LATE_FIELDS.map((key) => message[key]), json, copied })
  return json
}

const isCopied = (value: unknown, json: unknown): boolean =>
  typeof value === 'object' && value !== null && value !== json

/** The remembered fields. Those with a part that is no plain JSON are converted again. */
function withCopies(message: Message, { json, copied }: Flattened, path: Path): Fields {
  if (copied.length === 0) return json
  const fresh = { ...json }
  for (const key of copied) set(fresh, key, convert(message[key], path) ?? null)
  return fresh
}

/** The field names that `toDict` returns, by the class of a message and its constructor arguments. */
const shapes = new WeakMap<object, Map<string, readonly string[]>>()

/** The number of shapes to remember for each class. */
const MAX_SHAPES = 100

const shapeOf = ({ lc_kwargs: given }: Message): string => Object.keys(Object(given)).join()

/** The fields of a message with a known shape, because `toDict` takes many times as long. */
function quickFields(message: Message): Fields | undefined {
  const keys = shapes.get(message.constructor)?.get(shapeOf(message))
  if (!keys) return undefined
  const fields: Fields = {}
  for (const key of keys) {
    if (!(key in message)) return undefined
    set(fields, key, message[key])
  }
  fields.type = message.getType ? message.getType() : message._getType!()
  return fields
}

function readFields(message: Message): Fields {
  const { type, data } = message.toDict()
  const fields: Fields = {}
  const keys = Object.keys(data)
  // `toDict` escapes values that look like an envelope, so fields are read from the message if it has them.
  for (const key of keys) set(fields, key, key in message ? message[key] : data[key])
  fields.type = type
  // The attributes and secrets of a class depend on its values.
  if (message.lc_attributes === undefined && message.lc_secrets === undefined) {
    let ofClass = shapes.get(message.constructor)
    if (!ofClass || ofClass.size === MAX_SHAPES) shapes.set(message.constructor, (ofClass = new Map()))
    ofClass.set(shapeOf(message), keys)
  }
  return fields
}

function isUnchanged(message: Message, seen: readonly unknown[]): boolean {
  for (let at = 0; at < LATE_FIELDS.length; at++) {
    if (message[LATE_FIELDS[at]!] !== seen[at]) return false
  }
  return true
}

/**
 * The form that `JSON.stringify` produces for a message: `{ lc: 1, type: 'constructor', id: […], kwargs }`.
 */
function convertEnvelope(value: Fields, path: Path): unknown {
  const type = typeOfClass(value.id)
  if (type === undefined || typeof value.kwargs !== 'object' || value.kwargs === null)
    return convertOwn(value, path)
  return convertOwn({ ...value.kwargs, type }, path)
}

const readField = (value: Fields, key: string): unknown => value[key]

function tryField(value: Fields, key: string): unknown {
  try {
    return value[key]
  } catch {
    return UNREADABLE
  }
}

/** Assigns an own property, even one named `__proto__`. */
export function set(target: Fields, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    target[key] = value
  }
}
