import type { StateSnapshot } from '../agents/agent.ts'
import type { AgentEngine, FoundAnswer } from '../runs/index.ts'

/** Where an answer begins among the messages of its thread, to be kept with it as its details. */
export interface AnswerStart {
  /** The message that began it. */
  readonly messageId?: string | undefined
  /** The last message of the thread that has an id, when it began. Absent where there was none. */
  readonly after?: string | undefined
  /** How many messages there were after that one, or in all. Default 0. */
  readonly unnamed?: number | undefined
}

/**
 * The state that an answer has left, also where other runs have gone on from it. Undefined where it has written none, or none that was
 * kept: the thread then has the state of the answers before.
 */
export async function stateAfter(
  engine: AgentEngine,
  { thread, record }: Pick<FoundAnswer, 'thread' | 'record'>,
): Promise<StateSnapshot | undefined> {
  const { runIds } = record
  if (thread.lastRunId !== null && runIds.includes(thread.lastRunId)) {
    const state = await engine.readState(thread)
    const by = state?.metadata.run_id
    // A run that has failed at once, and a client that writes the state, leave one that is not the answer's.
    if (by === undefined || runIds.includes(String(by))) return state
  }
  for (const run_id of runIds.toReversed())
    for await (const state of engine.readHistory(thread, {}, { limit: 1, filter: { run_id } })) return state
  return undefined
}

/**
 * The messages that came with an answer: from the one that began it, or from what follows the last one before it, where the agent keeps
 * the former under another id or not at all. Those before, which may be many, need not be decoded.
 */
export function messagesOfAnswer(messages: readonly unknown[], start: AnswerStart): readonly unknown[] {
  const { messageId, after, unnamed = 0 } = start
  const placeOf = (id: string | undefined) =>
    id === undefined ? -1 : messages.findIndex((message) => idOf(message) === id)
  const last = placeOf(after)
  // An agent that has dropped the last message before has dropped all of them.
  const isKept = after === undefined || last >= 0
  return messages.slice(Math.max(0, placeOf(messageId), isKept ? last + 1 + unnamed : 0))
}

/** Where the messages of a state end, for an answer that begins there. */
export function endOf(messages: readonly unknown[]): Pick<AnswerStart, 'after' | 'unnamed'> {
  const last = messages.findLastIndex((message) => typeof idOf(message) === 'string')
  const unnamed = messages.length - 1 - last
  return { ...(last >= 0 && { after: idOf(messages[last]) as string }), ...(unnamed > 0 && { unnamed }) }
}

const idOf = (message: unknown): unknown => (Object(message) as { readonly id?: unknown }).id
