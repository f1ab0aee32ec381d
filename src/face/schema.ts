/**
 * What a request may hold, as functions that read a value and throw an `InvalidValue`. Bundlers drop schemas that nobody uses only
 * where what makes them is a function declaration that is marked so: they ignore the mark of an arrow function.
 */

/** Reads a value of a request. `path` is where it stands, such as `config.tags.0`. */
export type Schema<T> = (value: unknown, path?: string) => T
export type Read<S> = S extends Schema<infer T> ? T : never

/** A value that is not what its schema expects. The message names the place and says what would be right. */
export class InvalidValue extends Error {
  readonly path: string
  readonly expected: string
  constructor(path: string, expected: string) {
    super(`${path === '' ? '' : `${path}: `}expected ${expected}.`)
    this.path = path
    this.expected = expected
  }
}

export const refuse = (path: string, expected: string): never => {
  throw new InvalidValue(path, expected)
}

const at = (path: string, key: string | number): string => (path === '' ? `${key}` : `${path}.${key}`)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Anything, also nothing. */
export const unknown: Schema<unknown> = (value) => value

export const boolean: Schema<boolean> = (value, path = '') =>
  typeof value === 'boolean' ? value : refuse(path, 'true or false')

export const string: Schema<string> = (value, path = '') =>
  typeof value === 'string' ? value : refuse(path, 'a string')

export const nonEmpty: Schema<string> = (value, path = '') =>
  typeof value === 'string' && value !== '' ? value : refuse(path, 'a string that is not empty')

/* @__NO_SIDE_EFFECTS__ */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): Schema<number> {
  return (value, path = '') =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : refuse(path, `a whole number from ${min} to ${max}`)
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const T extends string>(...values: readonly T[]): Schema<T> {
  return (value, path = '') =>
    values.find((one) => one === value) ?? refuse(path, `one of ${values.join(', ')}`)
}

/** An object of any keys. */
export const record: Schema<Readonly<Record<string, unknown>>> = (value, path = '') => {
  if (!isObject(value)) return refuse(path, 'an object')
  if (!Object.hasOwn(value, '__proto__')) return value
  // Written into another object by its name, this key would change that object's prototype.
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'))
}

/** The length is checked before the items, each of which costs more than its bytes. */
/* @__NO_SIDE_EFFECTS__ */
export function list<T>(item: Schema<T>, min = 0, max = Number.POSITIVE_INFINITY): Schema<T[]> {
  return (value, path = '') => {
    if (!Array.isArray(value)) return refuse(path, 'an array')
    if (value.length < min) return refuse(path, `${min} or more items`)
    if (value.length > max) return refuse(path, `at most ${max} items`)
    return value.map((one, index) => item(one, at(path, index)))
  }
}

/** Many clients send null for what they leave out. */
/* @__NO_SIDE_EFFECTS__ */
export function optional<T>(schema: Schema<T>): Schema<T | undefined> {
  return (value, path) => (value == null ? undefined : schema(value, path))
}

/** The first schema that takes the value. */
/* @__NO_SIDE_EFFECTS__ */
export function either<T>(expected: string, ...schemas: readonly Schema<T>[]): Schema<T> {
  return (value, path = '') => {
    for (const schema of schemas) {
      try {
        return schema(value, path)
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error
      }
    }
    return refuse(path, expected)
  }
}

/* @__NO_SIDE_EFFECTS__ */
export function map<From, To>(schema: Schema<From>, change: (value: From) => To): Schema<To> {
  return (value, path) => change(schema(value, path))
}

export type Shape = Readonly<Record<string, Schema<unknown>>>
type OptionalKeys<S extends Shape> = {
  [Key in keyof S]: undefined extends Read<S[Key]> ? Key : never
}[keyof S]

export type ObjectOf<S extends Shape> = {
  readonly [Key in Exclude<keyof S, OptionalKeys<S>>]: Read<S[Key]>
} & { readonly [Key in OptionalKeys<S>]?: Read<S[Key]> }

/** An object with these keys. Others are ignored. */
/* @__NO_SIDE_EFFECTS__ */
export function object<S extends Shape>(shape: S): Schema<ObjectOf<S>> {
  return (value, path = '') => {
    if (!isObject(value)) return refuse(path, 'an object')
    const read: Record<string, unknown> = {}
    for (const [key, schema] of Object.entries(shape)) {
      const item = schema(Object.hasOwn(value, key) ? value[key] : undefined, at(path, key))
      if (item !== undefined) read[key] = item
    }
    return read as ObjectOf<S>
  }
}
