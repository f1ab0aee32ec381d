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
    const same =
      known !== undefined &&
      known.question === question &&
      known.answer.length === answer.length &&
      known.answer.every((message, at) => message === answer[at])
    return same ? known : { id: first?.id ?? `turn ${index}`, question, answer }
  })
}
