import type { AIMessage, BaseMessage } from '@langchain/core/messages'

/** A content block in wire format. */
export interface Block {
  readonly type: string
  readonly [key: string]: unknown
}

/** The blocks of a message. A string is one block of text. */
export function blocksOf({ content }: BaseMessage): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content as readonly Block[]
}

/** A message's text, without reasoning and attachments. */
export function textOf(message: BaseMessage): string {
  return blocksOf(message)
    .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
    .join('')
}

/** A model's reasoning, if the provider sends it. */
export function reasoningOf(message: BaseMessage): string {
  return blocksOf(message)
    .map((block) =>
      block.type === 'reasoning' && typeof block.reasoning === 'string' ? block.reasoning : '',
    )
    .join('')
}

/** How long a model reasoned before its first word, in milliseconds, if the server reports it. */
export function thinkingMsOf(message: BaseMessage): number | undefined {
  const { thinking_ms } = (message as AIMessage).response_metadata
  return typeof thinking_ms === 'number' ? thinking_ms : undefined
}

/** Whether the user stopped the answer. The server stores the partial answer and marks it. */
export const isStopped = (messages: readonly BaseMessage[]): boolean =>
  messages.some((message) => (message as AIMessage).response_metadata.finish_reason === 'cancelled')

/** Input and output tokens of all model calls of an answer, or undefined if no model reported them. */
export function usageOf(
  messages: readonly BaseMessage[],
): { readonly input: number; readonly output: number } | undefined {
  const usages = messages.flatMap((message) => (message as AIMessage).usage_metadata ?? [])
  if (usages.length === 0) return undefined
  return {
    input: usages.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
    output: usages.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
  }
}
