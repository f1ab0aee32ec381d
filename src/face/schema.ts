import * as z from 'zod/mini'

/**
 * What the schemas of all faces share, in zod: the sentence of a wrong value, null as nothing, and the kinds of values that the wire has.
 * Bundlers drop schemas that nobody uses only where a function that is marked so makes them, which `check` of zod is not.
 */

export type Schema<T = unknown> = z.ZodMiniType<T>
export type Read<S extends Schema> = z.output<S>

/** A value that is not what its schema expects. The message names the path and says what would be right. */
export class InvalidValue extends Error {
  readonly path: string
  readonly expected: string
  /** What the schema adds for its reader. */
  readonly params: Readonly<Record<string, unknown>> | undefined
  constructor(path: string, { message, params }: { message: string; params?: Record<string, unknown> }) {
    super(`${path === '' ? '' : `${path}: `}expected ${message}.`)
    this.path = path
    this.expected = message
    this.params = params
  }
}

/** The value as its schema gives it. `at` is the path that it has itself. Throws an `InvalidValue`. */
export function parse<S extends Schema>(schema: S, value: unknown, at?: string): z.output<S> {
  const result = z.safeParse(schema, value, CONTEXT)
  if (result.success) return result.data
  const issue = result.error.issues[0]! as z.core.$ZodIssue & { params?: Record<string, unknown> }
  throw new InvalidValue([...(at === undefined ? [] : [at]), ...issue.path].join('.'), issue)
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  object: 'an object',
  string: 'a string',
}

/** What a value had to be, where its schema has no words of its own. It is of the call, as the configuration of zod is the application's. */
const CONTEXT: z.core.ParseContextInternal<z.core.$ZodIssue> = {
  error(issue) {
    if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`
    if (issue.code === 'too_big') return `at most ${issue.maximum} items`
    if (issue.code === 'too_small') return `${issue.minimum} or more items`
    return TYPES[String(issue.expected)]
  },
  // Only the first error is told, so that a long list of wrong items costs no more than its first.
  abortEarly: true,
}

/** Refuses a value from within a transformation. `path` leads from it to the part that is wrong. */
export function refuse(payload: z.core.ParsePayload, message: string, ...path: PropertyKey[]): never {
  payload.issues.push({ code: 'custom', input: payload.value, message, path })
  return z.NEVER
}

/** Reads a part of a value by a schema that a transformation has chosen. */
export function parseWithin<S extends Schema>(
  payload: z.core.ParsePayload,
  schema: S,
  value: unknown,
  ...path: PropertyKey[]
): z.output<S> {
  const result = z.safeParse(schema, value, CONTEXT)
  if (result.success) return result.data
  for (const issue of result.error.issues)
    payload.issues.push({ ...issue, input: value, path: [...path, ...issue.path] } as z.core.$ZodRawIssue)
  return z.NEVER
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Any value, also null. */
export const anything = /* @__PURE__ */ z.optional(/* @__PURE__ */ z.unknown())

/** An object of any keys but `__proto__`: written into another object by its name, it would change that object's prototype. */
export const record = /* @__PURE__ */ z.looseObject({})

export const nonEmpty = /* @__PURE__ */ text('a string that is not empty', 1)

/* @__NO_SIDE_EFFECTS__ */
function text(expected: string, least: number) {
  return z.string(expected).check(z.minLength(least))
}

/* @__NO_SIDE_EFFECTS__ */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${min} to ${max}`
  return z.int(expected).check(z.gte(min, { abort: true }), z.lte(max, { abort: true }))
}

/* @__NO_SIDE_EFFECTS__ */
export function number(expected: string, ...checks: z.core.$ZodCheck<number>[]) {
  return z.number(expected).check(...checks)
}

/** A text of one form. */
/* @__NO_SIDE_EFFECTS__ */
export function textOf(expected: string, fits: (text: string) => boolean) {
  return z.string(expected).check((payload) => {
    if (!fits(payload.value)) refuse(payload, expected)
  })
}

/** The length is checked before the items, each of which costs more than its bytes. */
/* @__NO_SIDE_EFFECTS__ */
export function list<Item extends Schema>(item: Item, min: number, max?: number) {
  return z.array(item).check(z.minLength(min), ...(max === undefined ? [] : [z.maxLength(max)]))
}

/* @__NO_SIDE_EFFECTS__ */
export function map<From extends Schema, To>(
  schema: From,
  change: (value: z.output<From>, payload: z.core.ParsePayload) => To,
) {
  return z.pipe(schema, z.transform(change))
}

/** An object with these keys. Others are ignored, and null is nothing where its schema does not take it: many clients send it for what they leave out. */
/* @__NO_SIDE_EFFECTS__ */
export function object<Shape extends z.core.$ZodShape>(
  shape: Shape,
  prepare: (value: unknown) => unknown = (value) => value,
) {
  const fields = Object.entries(shape).map(([key, schema]) => [key, takesNull(schema)] as const)
  const known = (value: unknown): unknown => {
    const given = prepare(value)
    if (!isObject(given)) return given
    const own: Record<string, unknown> = {}
    for (const [key, nullable] of fields)
      if (Object.hasOwn(given, key) && given[key] !== undefined && (nullable || given[key] !== null))
        own[key] = given[key]
    return own
  }
  return z.pipe(z.transform(known), z.object(shape))
}

function takesNull({ _zod: { def } }: z.core.$ZodType): boolean {
  if (def.type === 'optional') return takesNull((def as z.core.$ZodOptionalDef).innerType)
  return def.type === 'unknown' || def.type === 'nullable'
}
