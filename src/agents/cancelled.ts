import type { WireMessage } from '../messages/index.ts'
import type { CheckpointTuple } from '../storage/checkpointer/checkpointer.ts'
import { type CallsOf, errorResult, openCalls } from './open-calls.ts'

/** Metadata of a checkpoint that only adds the output of a cancelled run. */
export const PARTIAL = { agentwire_cancelled: true }

/**
 * The checkpoint before one that only adds the output of a cancelled run: a run without input starts there.
 */
export function beforePartial(tuple: CheckpointTuple | undefined): string | undefined {
  const { metadata, parentConfig } = tuple ?? {}
  const isPartial =
    metadata?.source === 'update' && (metadata as Partial<typeof PARTIAL>).agentwire_cancelled === true
  return isPartial ? (parentConfig?.configurable?.checkpoint_id as string | undefined) : undefined
}

const CANCELLED = 'cancelled'

/** The end of a message that was unfinished when its run was cancelled, on the wire and in the state. */
export const CUT_OFF = { finish_reason: CANCELLED } as const

/**
 * The part of an assistant message that a cancel keeps if no node or function stored it yet: its text.
 * Undefined if there is none. Calls without results and reasoning without signatures are dropped, because a
 * provider would reject them in the next request.
 */
export function partialMessage(
  id: string,
  text: string,
  name: string | undefined,
  isFinished = false,
): WireMessage | undefined {
  if (text === '') return undefined
  // The flat form is written here, because the general message encoder is much larger.
  return {
    type: 'ai',
    id,
    ...(name !== undefined && { name }),
    content: text,
    additional_kwargs: {},
    response_metadata: isFinished ? {} : CUT_OFF,
    tool_calls: [],
    invalid_tool_calls: [],
  }
}

/**
 * Results for the tool calls at the end of a conversation that a cancel left without one. A provider would
 * reject the next request without them. The first argument may be followed by results that it does not
 * include yet.
 */
export const cancelledResults = (
  messages: readonly unknown[],
  callsOf: CallsOf,
  results: readonly unknown[] = [],
): readonly WireMessage[] =>
  openCalls([...messages, ...results], callsOf).map((call) =>
    errorResult(call, 'The call was cancelled before it had a result.', CUT_OFF),
  )

export const isPartial = ({ response_metadata: metadata }: WireMessage): boolean =>
  metadata?.finish_reason === CANCELLED
