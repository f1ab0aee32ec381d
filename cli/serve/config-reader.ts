import { AgentwireError } from '../../src/errors.ts'

/** An export of a file of the project. */
export interface ExportPath {
  /** Where the config names it, such as `graphs.agent`. */
  readonly key: string
  /** As the config has it, such as `./graph.ts`. */
  readonly file: string
  /** Such as `graph`, or `default`. */
  readonly symbol: string
}

/** A mistake in a file of the project; the message names the file and the place. */
export class ConfigError extends AgentwireError {
  static override readonly brand = 'ConfigError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('invalid_config', message, options)
  }
}

export type Reader = ReturnType<typeof reader>

/** Checks values, and says where in the file one is not what it has to be. */
export function reader(file: string) {
  const wrong = (key: string, problem: string, wanted: string): ConfigError =>
    new ConfigError(`${file}: ${key} ${problem}: it takes ${wanted}.`)
  const object = (key: string, value: unknown): Readonly<Record<string, unknown>> => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    throw wrong(key, value === undefined ? 'is missing' : 'is no object', 'an object')
  }
  const string = (key: string, value: unknown): string => {
    if (typeof value === 'string') return value
    throw wrong(key, value === undefined ? 'is missing' : 'is no string', 'a string')
  }
  return {
    wrong,
    object,
    string,
    optional: (key: string, value: unknown) => (value == null ? {} : object(key, value)),
    strings(key: string, value: unknown): string[] {
      if (!Array.isArray(value)) throw wrong(key, 'is no list', 'a list of strings')
      return value.map((one, index) => string(`${key}[${index}]`, one))
    },
    flag(key: string, value: unknown): boolean {
      if (value === undefined || typeof value === 'boolean') return value ?? false
      throw wrong(key, 'is neither true nor false', 'true or false')
    },
    exportPath(key: string, value: unknown): ExportPath {
      const path = string(key, value)
      const colon = path.lastIndexOf(':')
      // A colon in front of a slash belongs to the path, such as that of a drive.
      const hasSymbol = colon > 0 && !/[\\/]/.test(path.slice(colon))
      const file = hasSymbol ? path.slice(0, colon) : path
      if (/\.py[ixd]?$/.test(file) || !/\.[cm]?[jt]sx?$/.test(file)) {
        const problem = /\.py[ixd]?$/.test(file)
          ? `names ${file}, and Python is not served`
          : `names ${file}, which is no file of JavaScript or TypeScript`
        throw wrong(key, problem, 'a path and an export, such as ./graph.ts:graph')
      }
      return { key, file, symbol: (hasSymbol && path.slice(colon + 1)) || 'default' }
    },
  }
}
