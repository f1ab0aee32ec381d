import type { Json } from '../../../storage/index.ts'
import type { LogLevel } from '../deployer.ts'

/** What a program has told on its stdout. */
export interface Output {
  /** Reads the next line. */
  readonly read: (line: string) => void
  /** The last result, or undefined. */
  readonly result: () => Json | undefined
  /** Why the phase has failed, as the program says it, or because its result cannot be read. */
  readonly error: () => string | undefined
}

/** The longest line that is read whole, and the longest error that is shown. */
export const MOST_OF_LINE = 1_048_576
const MOST_OF_ERROR = 2_000

const LEVELS: ReadonlySet<string> = /* @__PURE__ */ new Set(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'])

/** Lines that are no JSON object with `log`, `result` or `error` are lines for the log. */
export function createOutput(log: (line: string, level?: LogLevel) => void): Output {
  let result: Json | undefined
  let error: string | undefined

  function read(line: string): void {
    const told = parse(line)
    if (told === undefined && /^\s*\{\s*"(result|error)"\s*:/.test(line)) {
      error = 'its result is no JSON on one line of at most 1 MiB'
      return
    }
    if (told?.result !== undefined) result = told.result
    else if (told?.error !== undefined)
      error = (typeof told.error === 'string' ? told.error : JSON.stringify(told.error)).slice(
        0,
        MOST_OF_ERROR,
      )
    else if (typeof told?.log === 'string') log(told.log, levelOf(told.level))
    else log(line)
  }

  return { read, result: () => result, error: () => error }
}

function levelOf(given: Json | undefined): LogLevel | undefined {
  const level = String(given).toUpperCase()
  return LEVELS.has(level) ? (level as LogLevel) : undefined
}

function parse(line: string): Readonly<Record<string, Json | undefined>> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
