import * as z from 'zod/mini'
import { isRecord } from '../../messages/record.ts'
import { CONTEXT, type Read, type Schema } from './parse.ts'

/**
 * The parts of all faces' schemas: the kinds of values on the wire, null as absent, and errors with a path.
 * They are loaded with the first value that is parsed, so that zod does not slow down the start of a server.
 */

/** Rejects a value during a transformation. `path` leads from the value to the invalid part. */
export function refuse(payload: z.core.ParsePayload, message: string, ...path: PropertyKey[]): never {
  payload.issues.push({ code: 'custom', input: payload.value, message, path })
  return z.NEVER
}

/** Parses part of a value with a schema that a transformation chose. */
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

/** Any value, including null. */
export const anything = z.optional(z.unknown())

/**
 * An object with any keys except `__proto__`, which would change the prototype of an object that it is copied
 * to.
 */
export const record = z.looseObject({})

const MAX_KEYS = 1_000

/** An object whose keys are compared individually. */
export const fewKeys = record.check((payload) => {
  if (Object.keys(payload.value).length > MAX_KEYS) refuse(payload, `at most ${MAX_KEYS} keys`)
})

export const nonEmpty = text('a string that is not empty', 1)

function text(expected: string, least: number) {
  return z.string(expected).check(z.minLength(least))
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${min} to ${max}`
  return z.int(expected).check(z.gte(min, { abort: true }), z.lte(max, { abort: true }))
}

export function number(expected: string, ...checks: z.core.$ZodCheck<number>[]) {
  return z.number(expected).check(...checks)
}

/** A string with a given format. */
export function textOf(expected: string, fits: (text: string) => boolean) {
  return z.string(expected).check((payload) => {
    if (!fits(payload.value)) refuse(payload, expected)
  })
}

/** The length is checked before the items, because validating an item costs more than parsing it. */
export function list<Item extends Schema>(item: Item, min: number, max?: number) {
  return z.array(item).check(z.minLength(min), ...(max === undefined ? [] : [z.maxLength(max)]))
}

export function map<From extends Schema, To>(
  schema: From,
  change: (value: z.output<From>, payload: z.core.ParsePayload) => To,
) {
  return z.pipe(schema, z.transform(change))
}

/**
 * An object with these keys. Other keys are ignored. Null counts as absent if the schema of the key does not
 * accept it, because many clients send null for absent fields.
 */
export function object<Shape extends z.core.$ZodShape>(
  shape: Shape,
  prepare: (value: unknown) => unknown = (value) => value,
) {
  const fields = Object.entries(shape).map(([key, schema]) => [key, takesNull(schema)] as const)
  const known = (value: unknown): unknown => {
    const given = prepare(value)
    if (!isRecord(given)) return given
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
