import type { WireMessage } from '../messages/index.ts'

const CANCELLED = 'cancelled'

/** What a message that was being written when its run was cancelled says of its end: on the wire and in the state. */
export const CUT_OFF = { finish_reason: CANCELLED } as const

/**
 * What stays of an assistant message that no node or function has kept yet when its run is cancelled: its text. Calls of tools
 * have no results, and thoughts no signature, so that a provider would refuse them in the next request. Undefined where there is
 * no text yet.
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
