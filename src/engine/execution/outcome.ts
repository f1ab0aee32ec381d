import type { ShownFailure } from '../failures.ts'
import type { RunUsage } from '../observe.ts'
import type { OpenInterrupt, StopReason } from '../records/records.ts'

/** How an attempt ended. */
export type Outcome =
  | { readonly end: 'done' }
  | { readonly end: 'failed'; readonly error: unknown; readonly shown: ShownFailure }
  | { readonly end: 'lost' }
  | { readonly end: 'stopped'; readonly reason: StopReason }

/** How an agent ended, before the message for clients is known. */
export type AgentOutcome =
  | Exclude<Outcome, { readonly end: 'failed' | 'lost' }>
  | { readonly end: 'failed'; readonly error: unknown }

/** What an attempt recorded in addition to its outcome. */
export interface Leftover {
  /** The interrupts that it raised. */
  readonly raised: readonly OpenInterrupt[]
  /** It stopped at a point where it can continue without an answer. */
  readonly atBreakpoint: boolean
  readonly usage: RunUsage | null
}
