import type { LogLevel } from '../deployers/deployer.ts'

/** A log: that of the build of a revision, or that of the servers of a deployment, of all its revisions. */
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
  /** Of the agent's run, if the line names one. */
  readonly runId?: string | undefined
}

export interface LogQuery {
  readonly revisionId?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** The `nextOffset` of the page before. */
  readonly offset?: string | undefined
  /** The least and the greatest time of a line, in milliseconds since 1970. */
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
  /** A part of the message, in any case. */
  readonly query?: string | undefined
  /** The least level. */
  readonly level?: LogLevel | undefined
  readonly runId?: string | undefined
}

export interface LogPage {
  readonly lines: readonly LogLine[]
  /** The start of the next page. In ascending order it may be that of lines that are not written yet. */
  readonly nextOffset: string
  /** Whether there are no more lines now. */
  readonly isEnd: boolean
}

/**
 * The logs of builds and servers, in the store. Each keeps its newest lines only; if older ones are gone, the
 * first line says so. Lines are written in the background: `flush` waits for them.
 */
export interface Logs {
  append(place: LogPlace, line: Omit<LogLine, 'id'>): void
  /** Throws `HttpError` 400 for an invalid offset. */
  read(place: LogPlace, query: LogQuery): Promise<LogPage>
  /** Calls `listener` after lines were written, also by others. A call may be late, spurious or lost. */
  watch(place: LogPlace, listener: () => void): () => void
  /** Settles when the lines that were appended before are written, or after 10 seconds. */
  flush(): Promise<void>
  remove(place: LogPlace): Promise<void>
  /** As `flush`. Lines that are appended afterwards are dropped. */
  close(): Promise<void>
}

/** The levels, from the least one. */
export const LOG_LEVELS: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']

export interface LogLimits {
  /** How many lines a log keeps. Default 10,000. */
  readonly maxLines?: number | undefined
  /** How many bytes a log keeps, as they are stored. Default 10,000,000. */
  readonly maxBytes?: number | undefined
  /** How many characters of a line are kept. Default 8,192. */
  readonly maxLineLength?: number | undefined
}

/** The partition of the log in the store. */
export const partitionOf = (place: LogPlace): string =>
  place.type === 'build' ? `logs:build:${place.revisionId}` : `logs:deploy:${place.deploymentId}`
