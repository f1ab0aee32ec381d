import type { LogBatch, LogEvent } from '../../storage/store/store.ts'
import type { LogLine } from './logs.ts'

/** A line as it is stored. Its revision is the event's topic. */
type StoredLine = Omit<LogLine, 'id' | 'revisionId'>

export interface NumberedLine extends LogLine {
  readonly seq: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * A line's event. It is encoded immediately, so that a part of a long text does not keep the rest in memory.
 */
export function encodeLine(
  { at, level, message, revisionId, runId }: Omit<LogLine, 'id'>,
  maxLength: number,
): LogEvent {
  const line: StoredLine = { at, level, message: cut(message, maxLength), runId }
  return { topic: revisionId, data: encoder.encode(JSON.stringify(line)) }
}

function cut(message: string, maxLength: number): string {
  if (message.length <= maxLength) return message
  // Do not split a surrogate pair.
  const end = /[\ud800-\udbff]/.test(message[maxLength - 1] ?? '') ? maxLength - 1 : maxLength
  return `${message.slice(0, end)}… (${message.length - end} more characters were cut)`
}

/** The lines of a batch up to a sequence number, optionally of one revision only. */
export function decodeLines(batch: LogBatch, last: number, revisionId: string | undefined): NumberedLine[] {
  const { first, count, bytes, offsets, origins, originOf } = batch
  const lines: NumberedLine[] = []
  for (let i = 0; i < count && first + i <= last; i++) {
    const { topic } = origins[originOf[i]!]!
    if (revisionId !== undefined && topic !== revisionId) continue
    const line: StoredLine = JSON.parse(decoder.decode(bytes.subarray(offsets[i], offsets[i + 1])))
    lines.push({ seq: first + i, id: String(first + i), revisionId: topic, ...line })
  }
  return lines
}
