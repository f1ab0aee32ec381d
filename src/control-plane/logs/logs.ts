import type { LogLevel } from '../deployers/deployer.ts'

/** The build log of one revision, or the log of a deployment's servers, of all its revisions. */
export type LogPlace =
  | { readonly type: 'build'; readonly deploymentId: string; readonly revisionId: string }
  | { readonly type: 'deploy'; readonly deploymentId: string }

export interface LogLine {
  /** Its number in the log, as text. */
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
  /** Where the next page begins; null when there is nothing more yet. */
  readonly nextOffset: string | null
}

/**
 * The logs of builds and servers, in the store. Each keeps its newest lines only; where older ones are gone, its first line says so.
 * Lines are gathered and written in the background: `flush` waits for them.
 */
export interface Logs {
  append(place: LogPlace, line: Omit<LogLine, 'id'>): void
  read(place: LogPlace, query: LogQuery): Promise<LogPage>
  flush(): Promise<void>
  remove(place: LogPlace): Promise<void>
}
