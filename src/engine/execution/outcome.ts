import { agentEvent } from '../../messages/thread-events/index.ts'
import type { ShownFailure } from '../failures.ts'
import { type RecordedEvent, SUPERSEDED } from '../log/frame.ts'
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

/** A message without an end. */
export interface OpenMessage {
  readonly namespace: readonly string[]
  readonly node?: string | undefined
  /** The id of the model call, in events from graphs. */
  readonly callId: string | undefined
}

/**
 * The event that ends a message which its agent does not keep: one of a lost attempt, or of a model call
 * whose output is unused.
 */
export function supersededEnd(
  { namespace, node, callId }: OpenMessage,
  message: string,
  detail: NonNullable<RecordedEvent['detail']>,
): RecordedEvent {
  const data = {
    event: 'error',
    message,
    code: SUPERSEDED,
    ...(callId !== undefined && { run_id: callId }),
  } as const
  return { ...agentEvent('messages', namespace, data, node), detail }
}
