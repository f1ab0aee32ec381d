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

/** `after`, or `before` where it holds the same items: React renders nothing again for a list that is the same object. */
export const keepList = <Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] =>
  sameItems(before, after) ? before : after

const sameItems = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.length === after.length && before.every((item, at) => item === after[at])
