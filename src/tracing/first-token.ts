import type { MessageEvent } from '../messages/index.ts'
import { isRecord } from '../messages/record.ts'

/**
 * Whether an event is what a model has really said: text, thinking, a refusal, arguments, data, or a tool call on any choice.
 * Roles, ids, counts and the envelopes that announce a block are none: time to first token is measured to the first event of
 * this kind.
 */
export function isContent(event: MessageEvent, chunk: unknown): boolean {
  if (event.type === 'blockDelta') {
    const { delta } = event
    return delta.type !== 'fields'
  }
  if (event.type !== 'blockStart') return event.type === 'blockFinish' && event.block !== undefined
  const { block } = event
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text !== ''
    case 'nonStandard':
      return false
    default:
      return !isEnvelope(chunk)
  }
}

/** Chunks that say what kind of block is coming, before there is anything in it. */
function isEnvelope(chunk: unknown): boolean {
  return isRecord(chunk) && typeof chunk.type === 'string' && /(_start|-start|\.added)$/.test(chunk.type)
}
