import * as z from 'zod/mini'
import { AgentwireError } from '../../core/errors.ts'

/** An export of a project file. */
export interface ExportPath {
  /** Its position in the config, such as `graphs.agent`. */
  readonly key: string
  /** As the config spells it, such as `./graph.ts`. */
  readonly file: string
  /** Such as `graph`, or `default`. */
  readonly symbol: string
}

/** A mistake in a project file. The message names the file and the position. */
export class ConfigError extends AgentwireError {
  static override readonly brand = 'ConfigError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('invalid_config', message, options)
  }
}

/**
 * A value parsed with its schema. Throws a `ConfigError` that names the position of an invalid value in the
 * file.
 */
export function readBy<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
  { file, whole }: { readonly file: string; readonly whole: string },
): z.output<S> {
  const result = z.safeParse(schema, value, { error })
  if (result.success) return result.data
  const { path, message } = firstOf(result.error.issues[0]!)
  const key = path.map((name) => (typeof name === 'number' ? `[${name}]` : `.${String(name)}`)).join('')
  throw new ConfigError(`${file}: ${key.slice(1) || whole} ${message}.`)
}

const TYPES: Readonly<Record<string, readonly [problem: string, wanted: string]>> = {
  array: ['is not a list', 'a list of strings'],
  boolean: ['is not a boolean', 'true or false'],
  object: ['is not an object', 'an object'],
  record: ['is not an object', 'an object'],
  string: ['is not a string', 'a string'],
}

const error: z.core.$ZodErrorMap = ({ expected, input }) => {
  const [problem, wanted] = TYPES[String(expected)] ?? []
  return problem && wanted && wrong(input === undefined ? 'is missing' : problem, wanted)
}

export const wrong = (problem: string, wanted: string): string => `${problem}: expected ${wanted}`

/** For a union: the mistake in the form that the value has, or in the last form if it has none of them. */
function firstOf(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const mistakes = issue.errors.map(([first]) => firstOf(first!))
  const within =
    mistakes.find(({ code, path }) => code !== 'invalid_type' || path.length > 0) ?? mistakes.at(-1)!
  return { ...within, path: [...issue.path, ...within.path] }
}

/** A value that may be omitted or null. */
export const optional = <S extends z.ZodMiniType>(schema: S) =>
  z.pipe(
    z.transform((value: unknown): unknown => value ?? undefined),
    z.optional(schema),
  )

/** An object of the file that may be omitted. */
export const section = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.pipe(
    z.transform((value: unknown): unknown => value ?? {}),
    z.looseObject(shape),
  )

export const strings = z.array(z.string())

/** An export by its path, such as `./graph.ts:graph`. */
export const exportPath = (key: string) =>
  z.pipe(
    z.string(),
    z.transform((text, payload) => exportAt(key, text, payload)),
  )

export function exportAt(key: string, text: string, { issues }: z.core.ParsePayload): ExportPath {
  const colon = text.lastIndexOf(':')
  // A colon before a slash belongs to the path, such as a drive's.
  const hasSymbol = colon > 0 && !/[\\/]/.test(text.slice(colon))
  const file = hasSymbol ? text.slice(0, colon) : text
  const isPython = /\.py[ixd]?$/.test(file)
  if (isPython || !/\.[cm]?[jt]sx?$/.test(file)) {
    const problem = isPython
      ? 'but Python graphs are not supported'
      : 'which is not a JavaScript or TypeScript file'
    const message = wrong(`names ${file}, ${problem}`, 'a path and an export, such as ./graph.ts:graph')
    issues.push({ code: 'custom', input: text, message })
  }
  return { key, file, symbol: (hasSymbol && text.slice(colon + 1)) || 'default' }
}
