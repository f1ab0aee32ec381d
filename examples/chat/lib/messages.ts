import type { AIMessage, BaseMessage } from '@langchain/core/messages'

/** A content block as it is on the wire. */
export interface Block {
  readonly type: string
  readonly [key: string]: unknown
}

/** The blocks of a message. A string is one block of text. */
export function blocksOf({ content }: BaseMessage): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content as readonly Block[]
}

/** All text of a message, without reasoning and attachments. */
export function textOf(message: BaseMessage): string {
  return blocksOf(message)
    .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
    .join('')
}

/** What a model thought before it answered, where the provider tells. */
export function reasoningOf(message: BaseMessage): string {
  return blocksOf(message)
    .map((block) =>
      block.type === 'reasoning' && typeof block.reasoning === 'string' ? block.reasoning : '',
    )
    .join('')
}

/** How long a model thought before its first word, in milliseconds, where the server tells. */
export function thinkingMsOf(message: BaseMessage): number | undefined {
  const { thinking_ms } = (message as AIMessage).response_metadata
  return typeof thinking_ms === 'number' ? thinking_ms : undefined
}

/** The user stopped the answer in the middle. The server keeps what there was, and marks it. */
export const isStopped = (messages: readonly BaseMessage[]): boolean =>
  messages.some((message) => (message as AIMessage).response_metadata.finish_reason === 'cancelled')

/** Tokens that went in and came out of all model calls of an answer, or undefined where no model told. */
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
