import type { RunUsage } from '../observe.ts'
import type { OpenInterrupt, StopReason } from '../records/records.ts'

/** How an attempt ended. */
export type Outcome =
  | { readonly end: 'done' }
  /** `message` is what clients are told. */
  | { readonly end: 'failed'; readonly error: unknown; readonly message: string }
  | { readonly end: 'lost' }
  | { readonly end: 'stopped'; readonly reason: StopReason }

/** How an agent ended, before clients are told of it. */
export type AgentOutcome =
  | Exclude<Outcome, { readonly end: 'failed' | 'lost' }>
  | { readonly end: 'failed'; readonly error: unknown }

/** What an attempt has recorded beside its outcome. */
export interface Leftover {
  /** The interrupts it has raised. */
  readonly raised: readonly OpenInterrupt[]
  /** It has stopped where it can be continued without an answer. */
  readonly atBreakpoint: boolean
  readonly usage: RunUsage | null
}
