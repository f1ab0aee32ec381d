import type { BaseMessage } from '@langchain/core/messages'

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
