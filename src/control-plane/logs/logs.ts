import type { LogLevel } from '../deployers/deployer.ts'

/** A log: the build log of a revision, or the server log of a deployment, for all its revisions. */
export type LogPlace =
  | { readonly type: 'build'; readonly deploymentId: string; readonly revisionId: string }
  | { readonly type: 'deploy'; readonly deploymentId: string }

export interface LogLine {
  /** Its number in the log, as text. `dropped` for the line about older ones. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly revisionId: string
  /** The agent's run, if the line names one. */
  readonly runId?: string | undefined
}

export interface LogQuery {
  readonly revisionId?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** The `nextOffset` of the previous page. */
  readonly offset?: string | undefined
  /** The earliest and the latest time of a line, in milliseconds since 1970. */
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
  /** A part of the message, ignoring case. */
  readonly query?: string | undefined
  /** The minimum level. */
  readonly level?: LogLevel | undefined
  readonly runId?: string | undefined
}

export interface LogPage {
  readonly lines: readonly LogLine[]
  /** The start of the next page. In ascending order, it may be before lines that are not written yet. */
  readonly nextOffset: string
  /** Whether there are no more lines at the moment. */
  readonly isEnd: boolean
}

/**
 * The logs of builds and servers, in the store. Each only keeps its newest lines; if older ones were dropped,
 * the first line says so. Lines are written in the background: `flush` waits for them.
 */
export interface Logs {
  append(place: LogPlace, line: Omit<LogLine, 'id'>): void
  /** Throws `HttpError` 400 for an invalid offset. */
  read(place: LogPlace, query: LogQuery): Promise<LogPage>
  /** Calls `listener` after any process has written lines. A call may be late, spurious or lost. */
  watch(place: LogPlace, listener: () => void): () => void
  /** Resolves when the lines that were appended before are written, or after 10 seconds. */
  flush(): Promise<void>
  remove(place: LogPlace): Promise<void>
  /** Like `flush`. Lines that are appended afterwards are dropped. */
  close(): Promise<void>
}

/** The levels, lowest first. */
export const LOG_LEVELS: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']

export interface LogLimits {
  /** The maximum number of lines in a log. Default 10,000. */
  readonly maxLines?: number | undefined
  /** The maximum stored size of a log, in bytes. Default 10,000,000. */
  readonly maxBytes?: number | undefined
  /** The maximum length of a line, in characters. Default 8,192. */
  readonly maxLineLength?: number | undefined
}

/** The log's partition in the store. */
export const partitionOf = (place: LogPlace): string =>
  place.type === 'build' ? `logs:build:${place.revisionId}` : `logs:deploy:${place.deploymentId}`
