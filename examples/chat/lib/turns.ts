import type { BaseMessage } from '@langchain/core/messages'

/** A message of the user, and all that the agent answered to it: its messages, and the results of its tools. */
export interface Turn {
  readonly id: string
  readonly question: BaseMessage | undefined
  readonly answer: readonly BaseMessage[]
}

/**
 * The turns of a conversation, in order. A turn of which no message has changed is the object of `before`: so only the turn that is being
 * written is rendered again for a token.
 */
export function turnsOf(messages: readonly BaseMessage[], before: readonly Turn[] = []): readonly Turn[] {
  const starts = messages.flatMap((message, at) => (at === 0 || message.type === 'human' ? [at] : []))
  return starts.map((start, index) => {
    const [first, ...rest] = messages.slice(start, starts[index + 1])
    const asked = first?.type === 'human'
    const question = asked ? first : undefined
    const answer = asked ? rest : messages.slice(start, starts[index + 1])
    const known = before[index]
    const same = known !== undefined && known.question === question && sameItems(known.answer, answer)
    return same ? known : { id: first?.id ?? `turn ${index}`, question, answer }
  })
}

const GROUP_SIZE = 8

/** The turns in groups. A group in which nothing has changed is the object of `before`, as a turn is. */
export function groupsOf(
  turns: readonly Turn[],
  before: readonly (readonly Turn[])[] = [],
): readonly (readonly Turn[])[] {
  return Array.from({ length: Math.ceil(turns.length / GROUP_SIZE) }, (_, at) => {
    const group = turns.slice(at * GROUP_SIZE, (at + 1) * GROUP_SIZE)
    const known = before[at]
    return known && sameItems(known, group) ? known : group
  })
}

const sameItems = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.length === after.length && before.every((item, at) => item === after[at])
