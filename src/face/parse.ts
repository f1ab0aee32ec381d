import type * as z from 'zod/mini'

/** How values are read by schemas of zod, without zod itself, which comes with the schemas. */

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

/** What a value should have been, where its schema has no words of its own. It is of the call, as the configuration of zod is the application's. */
export const CONTEXT: z.core.ParseContextInternal<z.core.$ZodIssue> = {
  error(issue) {
    if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`
    if (issue.code === 'too_big') return `at most ${issue.maximum} items`
    if (issue.code === 'too_small') return `${issue.minimum} or more items`
    return TYPES[String(issue.expected)]
  },
  // Only the first error is told, so that a long list of wrong items costs no more than its first.
  abortEarly: true,
}
