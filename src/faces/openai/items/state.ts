import { decodeMessage, type Message, textOf } from '../../../messages/index.ts'
import { isSummary } from '../../../messages/message.ts'
import { itemsOf } from '../../../messages/record.ts'

/** An item of a conversation. */
export type Item = Readonly<Record<string, unknown>> & { readonly id: string }

/** The messages of a state as items, without calls and results of tools. */
export const itemsOfState = (messages: unknown): readonly Item[] =>
  itemsOf(messages).flatMap((raw, at) => itemOf(decodeMessage(raw), at))

function itemOf(message: Message | undefined, at: number): readonly Item[] {
  if (!message || message.role === 'tool' || message.role === 'reasoning' || isSummary(message)) return []
  const text = textOf(message)
  const isOwn = message.role === 'assistant'
  // A message with only tool calls has no text.
  if (isOwn && text === '') return []
  const content = isOwn
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'input_text', text }
  return [
    {
      type: 'message',
      id: message.id ?? `msg_${at}`,
      status: 'completed',
      role: message.role,
      content: [content],
    },
  ]
}
