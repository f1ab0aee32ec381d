import type { StateSnapshot } from '../../agents/agent.ts'
import type { FoundAnswer, ServedEngine } from '../../engine/index.ts'

/** Where an answer begins in the messages of its thread. Stored with the answer as its details. */
export interface AnswerStart {
  /** The message that started it. */
  readonly messageId?: string | undefined
  /** The last message with an id in the thread when the answer began. Absent if there was none. */
  readonly after?: string | undefined
  /** The number of messages after that one, or in total. Default 0. */
  readonly unnamed?: number | undefined
}

/**
 * The state at the end of an answer, even if later runs continued from it. Undefined if the answer wrote no
 * state, or if its state was not kept: the thread then has the state of the previous answers.
 */
export async function stateAfter(
  engine: ServedEngine,
  { thread, record }: Pick<FoundAnswer, 'thread' | 'record'>,
): Promise<StateSnapshot | undefined> {
  const { runIds } = record
  if (thread.lastRunId !== null && runIds.includes(thread.lastRunId)) {
    const state = await engine.readState(thread)
    const by = state?.metadata.run_id
    // If a run failed at once, or a client updated the state, the current state is not the answer's.
    if (by === undefined || runIds.includes(String(by))) return state
  }
  for (const run_id of runIds.toReversed())
    for await (const state of engine.readHistory(thread, {}, { limit: 1, filter: { run_id } })) return state
  return undefined
}

/**
 * The messages of an answer: from the one that started it or, if the agent stores that one under another id
 * or not at all, from the first message after the previous answer. Earlier messages, which may be many, need
 * not be decoded.
 */
export function messagesOfAnswer(messages: readonly unknown[], start: AnswerStart): readonly unknown[] {
  const { messageId, after, unnamed = 0 } = start
  const placeOf = (id: string | undefined) =>
    id === undefined ? -1 : messages.findIndex((message) => idOf(message) === id)
  const last = placeOf(after)
  // If the agent dropped the last earlier message, it dropped all earlier messages.
  const isKept = after === undefined || last >= 0
  return messages.slice(Math.max(0, placeOf(messageId), isKept ? last + 1 + unnamed : 0))
}

/** The end of the messages of a state, for an answer that begins there. */
export function endOf(messages: readonly unknown[]): Pick<AnswerStart, 'after' | 'unnamed'> {
  const last = messages.findLastIndex((message) => typeof idOf(message) === 'string')
  const unnamed = messages.length - 1 - last
  return { ...(last >= 0 && { after: idOf(messages[last]) as string }), ...(unnamed > 0 && { unnamed }) }
}

const idOf = (message: unknown): unknown => (Object(message) as { readonly id?: unknown }).id
