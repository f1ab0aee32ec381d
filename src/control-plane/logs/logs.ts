import type { LogLevel } from '../deployers/deployer.ts'

/** The build log of one revision, or the log of a deployment's servers, of all its revisions. */
export type LogPlace =
  | { readonly type: 'build'; readonly deploymentId: string; readonly revisionId: string }
  | { readonly type: 'deploy'; readonly deploymentId: string }

export interface LogLine {
  /** Its number in the log, as text. `dropped` for the line that tells of older ones. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly revisionId: string
  /** Of the agent's run, where the line names one. */
  readonly runId?: string | undefined
}

export interface LogQuery {
  readonly revisionId?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** What the page before gave as `nextOffset`. */
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
  /** Where the next page begins. In ascending order it goes on with lines that are not written yet. */
  readonly nextOffset: string
  /** Whether nothing more is there now. */
  readonly isEnd: boolean
}

/**
 * The logs of builds and servers, in the store. Each keeps its newest lines only; where older ones are gone, its first line says so.
 * Lines are gathered and written in the background: `flush` waits for them.
 */
export interface Logs {
  append(place: LogPlace, line: Omit<LogLine, 'id'>): void
  /** Throws `HttpError` 400 for an offset that is none. */
  read(place: LogPlace, query: LogQuery): Promise<LogPage>
  /** Calls `listener` when lines of the place may have been written, also by others. It may come late, twice or not at all. */
  watch(place: LogPlace, listener: () => void): () => void
  /** Settles when the lines that were appended before are written, or after 10 seconds where the store is away. */
  flush(): Promise<void>
  remove(place: LogPlace): Promise<void>
  /** As `flush`. What is appended afterwards is not written any more. */
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

/** The partition of the store that has the log. */
export const partitionOf = (place: LogPlace): string =>
  place.type === 'build' ? `logs:build:${place.revisionId}` : `logs:deploy:${place.deploymentId}`
