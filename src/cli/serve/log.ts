import { inspect } from 'node:util'
import type { WebHandler } from '../../core/http/index.ts'

/** Highest level first, as in `LOG_LEVEL`, with the names of LangGraph's logger. */
const LEVELS = [
  'error',
  'warn',
  'help',
  'data',
  'info',
  'http',
  'verbose',
  'prompt',
  'debug',
  'input',
  'silly',
] as const
type Level = (typeof LEVELS)[number]

/** The result of LangGraph's `getLogger()`. Each method returns the logger again. */
export type Log = Readonly<Record<Level, (message: unknown, ...meta: readonly unknown[]) => Log>>

export interface LogOptions {
  /** The lowest level that is printed, such as `warn`. Default: `debug`. */
  readonly level?: string | undefined
  /** Prints a line of JSON for each message instead of text. */
  readonly json?: boolean
  readonly out: (line: string) => void
  /** For warnings and errors. */
  readonly problem: (line: string) => void
}

export function createLog({ level = 'debug', json = false, out, problem }: LogOptions): Log {
  const known = LEVELS.indexOf(level as Level)
  const least = known === -1 ? LEVELS.indexOf('debug') : known
  const log = Object.fromEntries(
    LEVELS.map((name, at) => {
      const print = at <= LEVELS.indexOf('warn') ? problem : out
      const write = (message: unknown, ...meta: readonly unknown[]): Log => {
        if (at <= least) print(json ? toJson(name, message, meta) : toText(name, message, meta))
        return log
      }
      return [name, write]
    }),
  ) as Log
  return log
}

/** Makes LangGraph's `getLogger()`, which throws without a logger, return a log to the project's code. */
export function registerLog(log: Log): void {
  Object.assign(globalThis, { [Symbol.for('langgraph.api.sdk-logger')]: log })
}

/**
 * Logs each request once its response starts. Query strings are left out because they may contain secrets.
 * Requests to `/ok`, which hosts send every few seconds, and those of the devtools page are not logged.
 */
export const logged = (handler: WebHandler, log: Log): WebHandler => ({
  ...handler,
  // A reload may change it.
  get isOpen() {
    return handler.isOpen
  },
  async fetch(request, context) {
    const began = performance.now()
    const response = await handler.fetch(request, context)
    const { pathname } = new URL(request.url)
    const ms = Math.round(performance.now() - began)
    if (!/\/ok$|\/devtools\/api\//.test(pathname))
      log.info(`${request.method} ${pathname} ${response.status} ${ms} ms`)
    return response
  },
})

const toText = (level: Level, message: unknown, meta: readonly unknown[]): string =>
  `${level}: ${[message, ...meta].map(textOf).join(' ')}`

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : inspect(value, { depth: null, breakLength: 120 })

/** The keys of a logged object are added to those of the line. */
function toJson(level: Level, message: unknown, meta: readonly unknown[]): string {
  const given = [message, ...meta].filter((part) => typeof part !== 'string')
  const words = [message, ...meta].filter((part) => typeof part === 'string')
  const fields = given.map((part) =>
    part instanceof Error
      ? { error: part.stack ?? part.message }
      : typeof part === 'object'
        ? part
        : { value: part },
  )
  const line = { timestamp: new Date().toISOString(), level, event: words.join(' ') }
  try {
    return JSON.stringify(Object.assign({}, ...fields, line))
  } catch {
    // JSON cannot express cycles and large integers.
    return JSON.stringify({ ...line, value: inspect(given) })
  }
}
