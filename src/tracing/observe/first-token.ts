import type { ContentBlock, MessageEvent } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'

/**
 * Whether an event is what a model has really said: text, thinking, a refusal, arguments, data, or a tool call on any choice.
 * Roles, ids, counts and the envelopes that announce a block are none: time to first token is measured to the first event of
 * this kind.
 *
 * @param chunk What the provider sent, that the event was read from.
 */
export function isContent(event: MessageEvent, chunk: unknown): boolean {
  switch (event.type) {
    case 'blockDelta':
      return event.delta.type !== 'fields'
    case 'blockStart':
      return says(event.block) && !isEnvelope(chunk)
    case 'blockFinish':
      return event.block !== undefined && says(event.block)
    default:
      return false
  }
}

function says(block: ContentBlock): boolean {
  if (block.type === 'text' || block.type === 'reasoning') return block.text !== ''
  return block.type !== 'nonStandard'
}

/** Chunks that say what kind of block is coming, before there is anything in it. */
function isEnvelope(chunk: unknown): boolean {
  return isRecord(chunk) && typeof chunk.type === 'string' && /(_start|-start|\.added)$/.test(chunk.type)
}
