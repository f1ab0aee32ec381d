import type { WireMessage } from '../messages/index.ts'
import type { CheckpointTuple } from '../storage/checkpointer/checkpointer.ts'

/** The key of the metadata of a checkpoint that only adds what a cancelled run had written. */
export const PARTIAL = { agentwire_cancelled: true }

/** The checkpoint before one that only adds what a cancelled run wrote: a run without input starts there. */
export function beforePartial(tuple: CheckpointTuple | undefined): string | undefined {
  const { metadata, parentConfig } = tuple ?? {}
  const isPartial =
    metadata?.source === 'update' && (metadata as Partial<typeof PARTIAL>).agentwire_cancelled === true
  return isPartial ? (parentConfig?.configurable?.checkpoint_id as string | undefined) : undefined
}

const CANCELLED = 'cancelled'

/** The end of a message that was being written when its run was cancelled, on the wire and in the state. */
export const CUT_OFF = { finish_reason: CANCELLED } as const

/**
 * What a cancel keeps of an assistant message that no node or function has kept yet: its text, undefined if
 * there is none. Without results of its calls or signatures of its thoughts, a provider would refuse those in
 * the next request.
 */
export function partialMessage(
  id: string,
  text: string,
  name: string | undefined,
  isFinished = false,
): WireMessage | undefined {
  if (text === '') return undefined
  // A message in the flat form is written out here: the encoder of all messages is much larger.
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

export const isPartial = ({ response_metadata: metadata }: WireMessage): boolean =>
  metadata?.finish_reason === CANCELLED
