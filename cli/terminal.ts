/** What a command speaks to. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** What was asked for. */
  out(text: string): void
  /** Why there is none of it. */
  problem(text: string): void
}

/** 1: there is a problem with what was looked at; 2: the command line makes no sense. */
export type ExitCode = 0 | 1 | 2

/** The command line makes no sense; the message says why. */
export class UsageError extends Error {}
