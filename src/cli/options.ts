import { parseArgs } from 'node:util'
import { nearest } from '../core/nearest.ts'
import { UsageError } from './terminal.ts'

type Options = Readonly<
  Record<
    string,
    { readonly type: 'string' | 'boolean'; readonly short?: string; readonly multiple?: boolean }
  >
>

/** A parsed command line. */
export interface CommandLine<T extends Options> {
  readonly values: {
    readonly [Name in keyof T]?: T[Name] extends { readonly type: 'boolean' }
      ? boolean
      : T[Name] extends { readonly multiple: true }
        ? readonly string[]
        : string
  }
  /** The arguments that belong to no option. */
  readonly positionals: readonly string[]
}

/** Throws `UsageError`. */
export function parseCommandLine<const T extends Options>(
  args: readonly string[],
  options: T,
): CommandLine<T> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options }) as CommandLine<T>
  } catch (error) {
    // Only the first sentence concerns this command line; the rest explains options in general.
    const problem = (error as Error).message.replace(/\. .*$/s, '.')
    throw new UsageError(problem + suggestion(problem, Object.keys(options)))
  }
}

/** The option that an unknown one is closest to. */
function suggestion(problem: string, names: readonly string[]): string {
  const [, given] = /^Unknown option '--([^']+)'/.exec(problem) ?? []
  const meant = given && nearest(given, names)
  return meant ? ` Did you mean --${meant}?` : ''
}

/** A port from the command line or the environment. With 0, the system chooses. Throws `UsageError`. */
export function portOf(text: string, from: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new UsageError(`${from} must be a number from 0 to 65535, not “${text}”.`)
}
