import * as z from 'zod/mini'
import { CONTEXT, type Read, type Schema } from './parse.ts'

/**
 * What the schemas of all faces are made of: the kinds of values that the wire has, null as nothing, and refusals with a path. They are
 * loaded with the first value that they read, so that zod costs the start of a server nothing.
 */

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
): Read<S> {
  const result = z.safeParse(schema, value, CONTEXT)
  if (result.success) return result.data
  for (const issue of result.error.issues)
    payload.issues.push({ ...issue, input: value, path: [...path, ...issue.path] } as z.core.$ZodRawIssue)
  return z.NEVER
}

/** Any value, also null. */
export const anything = z.optional(z.unknown())

/** An object of any keys but `__proto__`: written into another object by its name, it would change that object's prototype. */
export const record = z.looseObject({})

export const nonEmpty = text('a string that is not empty', 1)

function text(expected: string, least: number) {
  return z.string(expected).check(z.minLength(least))
}

export function whole(min: number, max = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${min} to ${max}`
  return z.int(expected).check(z.gte(min, { abort: true }), z.lte(max, { abort: true }))
}

export function number(expected: string, ...checks: z.core.$ZodCheck<number>[]) {
  return z.number(expected).check(...checks)
}

/** A text of one form. */
export function textOf(expected: string, fits: (text: string) => boolean) {
  return z.string(expected).check((payload) => {
    if (!fits(payload.value)) refuse(payload, expected)
  })
}

/** The length is checked before the items, each of which costs more than its bytes. */
export function list<Item extends Schema>(item: Item, min: number, max?: number) {
  return z.array(item).check(z.minLength(min), ...(max === undefined ? [] : [z.maxLength(max)]))
}

export function map<From extends Schema, To>(
  schema: From,
  change: (value: z.output<From>, payload: z.core.ParsePayload) => To,
) {
  return z.pipe(schema, z.transform(change))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with these keys. Others are ignored, and null is nothing where its schema does not take it: many clients send it for what they leave out. */
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
