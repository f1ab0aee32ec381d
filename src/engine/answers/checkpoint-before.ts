import type { StateSnapshot } from '../../agents/agent.ts'
import type { RunContext } from '../context.ts'
import { readHistory } from '../threads/state.ts'
import { findThread, type OwnedThread } from '../threads/threads.ts'

/**
 * The checkpoint whose state does not contain a message yet, from which a run can fork before it, on any
 * branch of the thread. Null if the first state contains it: the run then begins with an empty state.
 * Undefined if no state contains it, or the caller has no such thread.
 */
export async function checkpointBefore(
  context: RunContext,
  { messageId, ...asked }: OwnedThread & { readonly messageId: string },
): Promise<string | null | undefined> {
  const thread = await findThread(context, asked)
  if (!thread) return undefined
  /** The parents of the states that contain the message. */
  const parents = new Set<string>()
  let isFirst = false
  for await (const state of readHistory(context, thread, {}, {})) {
    const { parentCheckpoint, checkpoint } = state
    if (hasMessage(state, messageId)) {
      if (parentCheckpoint) parents.add(parentCheckpoint.checkpointId)
      else isFirst = true
    } else if (parents.has(checkpoint.checkpointId)) return checkpoint.checkpointId
  }
  return isFirst ? null : undefined
}

const hasMessage = ({ values: { messages } }: StateSnapshot, messageId: string): boolean =>
  Array.isArray(messages) && messages.some((message) => Object(message).id === messageId)
