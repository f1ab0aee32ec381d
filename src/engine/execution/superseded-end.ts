import { agentEvent } from '../../messages/thread-events/index.ts'
import { type RecordedEvent, SUPERSEDED } from '../log/frame.ts'

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
