import type { ContentBlock, MessageEvent } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'

/**
 * Whether an event has content of the model: text, thinking, a refusal, arguments, data, or a tool call, on any choice. Roles,
 * ids, counts and the envelopes that announce a block are no content. The time to first token ends at the first such event.
 *
 * @param chunk The provider's chunk that the event was read from.
 */
export function isContent(event: MessageEvent, chunk: unknown): boolean {
  switch (event.type) {
    case 'blockDelta':
      return event.delta.type !== 'fields'
    case 'blockStart':
      return hasContent(event.block) && !isEnvelope(chunk)
    case 'blockFinish':
      return event.block !== undefined && hasContent(event.block)
    default:
      return false
  }
}

function hasContent(block: ContentBlock): boolean {
  if (block.type === 'text' || block.type === 'reasoning') return block.text !== ''
  return block.type !== 'nonStandard'
}

/** Whether a chunk only announces the type of the next block. */
function isEnvelope(chunk: unknown): boolean {
  return isRecord(chunk) && typeof chunk.type === 'string' && /(_start|-start|\.added)$/.test(chunk.type)
}
