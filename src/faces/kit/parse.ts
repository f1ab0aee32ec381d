import type * as z from 'zod/mini'

/** Parses values with zod schemas, without importing zod itself, which comes with the schemas. */

export type Schema<T = unknown> = z.ZodMiniType<T>
export type Read<S extends Schema> = z.output<S>

/** A value that does not match its schema. The message has the path and the expected value. */
export class InvalidValue extends Error {
  readonly path: string
  readonly expected: string
  /** Additional data that the schema attaches to the error. */
  readonly params: Readonly<Record<string, unknown>> | undefined
  constructor(path: string, { message, params }: { message: string; params?: Record<string, unknown> }) {
    super(`${path === '' ? '' : `${path}: `}expected ${message}.`)
    this.path = path
    this.expected = message
    this.params = params
  }
}

/** The parsed value. `at` is the path of the value itself. Throws `InvalidValue`. */
export function parse<S extends Schema>(schema: S, value: unknown, at?: string): z.output<S> {
  const result = schema.safeParse(value, CONTEXT)
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

/**
 * The expected value in error messages, if the schema has no text of its own. Passed with each call, because
 * the global configuration of zod belongs to the application.
 */
export const CONTEXT: z.core.ParseContextInternal<z.core.$ZodIssue> = {
  error(issue) {
    if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`
    if (issue.code === 'too_big') return `at most ${issue.maximum} items`
    if (issue.code === 'too_small') return `${issue.minimum} or more items`
    return TYPES[String(issue.expected)]
  },
  // Only the first error is reported, so that a long list of invalid items costs no more than one.
  abortEarly: true,
}
