import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from './terminal.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** The options and words of a command line. Throws `UsageError`. */
export function parseCommandLine<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    // Only the first sentence is about this command line; the rest explains options in general.
    throw new UsageError((error as Error).message.replace(/\. .*$/s, '.'))
  }
}

/** A port of the command line or the environment; 0 lets the system choose. Throws `UsageError`. */
export function portOf(text: string, from: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new UsageError(`${from} takes a number from 0 to 65535, and not “${text}”.`)
}
