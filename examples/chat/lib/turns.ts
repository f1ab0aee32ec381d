import type { BaseMessage } from '@langchain/core/messages'

/** A message of the user, and the agent's answer to it: its messages and its tools' results. */
export interface Turn {
  readonly id: string
  readonly question: BaseMessage | undefined
  readonly answer: readonly BaseMessage[]
}

/**
 * The turns of a conversation, in order. An unchanged turn is the same object as in `before`, so that a token
 * only renders the turn that is being written.
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

/** The items in groups. An unchanged group is the same object as in `before`, like a turn. */
export function groupsOf<Item>(
  items: readonly Item[],
  before: readonly (readonly Item[])[] = [],
): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / GROUP_SIZE) }, (_, at) => {
    const group = items.slice(at * GROUP_SIZE, (at + 1) * GROUP_SIZE)
    const known = before[at]
    return known && sameItems(known, group) ? known : group
  })
}

const sameItems = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.length === after.length && before.every((item, at) => item === after[at])
