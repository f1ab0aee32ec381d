import type { Json, LogBatch, LogEvent, Store } from '../../storage/store/store.ts'
import type { LogLine } from './logs.ts'

/** A summary of a log, so that its lines need not be read. It is written in the lines' commits. */
export interface LogRecord {
  /** Oldest first. The last one extends to the head. */
  readonly segments: readonly Segment[]
  /** The sequence number before the first line, minus the lost lines before the first segment. */
  readonly base: number
  /** The commit that wrote it. A writer whose response was lost recognizes its own commit by it. */
  readonly commit: string
}

interface Segment {
  /** The sequence number of the first line. */
  readonly first: number
  readonly bytes: number
  /** The earliest and the latest time of its lines. */
  readonly oldest: number
  readonly newest: number
  /** Lines before the first one that were never written, because the queue was full. */
  readonly lost: number
}

export interface Bounds {
  readonly maxLines: number
  readonly maxBytes: number
}

/** The number of segments in a full log, which drops whole segments. */
const SEGMENTS = 32

/** Adds lines after those that end at `head`. */
export function extend(
  segments: readonly Segment[],
  head: number,
  added: Segment,
  bounds: Bounds,
): readonly Segment[] {
  const last = segments.at(-1)
  const isFull =
    !last ||
    added.lost > 0 ||
    head + 1 - last.first >= bounds.maxLines / SEGMENTS ||
    last.bytes + added.bytes > bounds.maxBytes / SEGMENTS
  if (isFull) return [...segments, added]
  const joined: Segment = {
    ...last,
    bytes: last.bytes + added.bytes,
    oldest: Math.min(last.oldest, added.oldest),
    newest: Math.max(last.newest, added.newest),
  }
  return [...segments.slice(0, -1), joined]
}

/** How many of the first segments to drop from a log that ends at `head`. The last one is always kept. */
export function surplus(segments: readonly Segment[], head: number, { maxLines, maxBytes }: Bounds): number {
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  let count = 0
  while (
    count < segments.length - 1 &&
    (bytes > maxBytes || head + 1 - segments[count + 1]!.first >= maxLines)
  )
    bytes -= segments[count++]!.bytes
  return count
}

const DOC = { collection: 'logs', id: 'log' } as const

export const putRecordOp = (record: LogRecord) =>
  ({ op: 'put', ...DOC, value: record as unknown as Json }) as const

/** Passes only if the record is still the loaded one. */
export const recordGuard = (version: number | undefined) =>
  version === undefined
    ? ({ guard: 'absent', ...DOC } as const)
    : ({ guard: 'version', ...DOC, version } as const)

export interface LogState {
  readonly record: LogRecord | undefined
  readonly version: number | undefined
  readonly head: number
  readonly firstRetained: number
}

export async function loadState(store: Store, partition: string): Promise<LogState> {
  // The record first, so that its lines are already written.
  const doc = await store.get(partition, DOC.collection, DOC.id)
  const { head, firstRetained } = await store.inspect(partition)
  const record = doc?.value as unknown as LogRecord | undefined
  return { record, version: doc?.version, head, firstRetained }
}

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
