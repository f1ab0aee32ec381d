import { decodeMessage, type Message } from '../../messages/index.ts'
import { isSummary } from '../../messages/message.ts'

/**
 * The messages that a run has added to a state: those after the last message of its input, until the next
 * user message. If the state lacks that message, or the run had no input, those after the last user message.
 */
export function* messagesOfRun(messages: readonly unknown[], after: string | null): Generator<Message> {
  const found = messages.findIndex((one) => Object(one).id === after)
  const begin = found >= 0 ? found : messages.findLastIndex((one) => Object(one).type === 'human')
  for (const raw of messages.slice(begin + 1)) {
    const message = decodeMessage(raw)
    if (message && isSummary(message)) continue
    if (message?.role === 'user') return
    if (message) yield message
  }
}
