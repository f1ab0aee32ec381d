import { decodeMessage, type Message } from '../messages/index.ts'

/**
 * The messages of a state that a run has added: those that follow the last message of its input, until the next one of the user. Where the
 * state does not have that, or the run had none, those that follow the last message of the user.
 */
export function* messagesOfRun(messages: readonly unknown[], after: string | null): Generator<Message> {
  const found = messages.findIndex((one) => Object(one).id === after)
  const begin = found >= 0 ? found : messages.findLastIndex((one) => Object(one).type === 'human')
  for (const raw of messages.slice(begin + 1)) {
    const message = decodeMessage(raw)
    if (message?.role === 'user') return
    if (message) yield message
  }
}
