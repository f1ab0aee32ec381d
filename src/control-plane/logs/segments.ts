import type { Json, Store } from '../../storage/store/store.ts'

/** A summary of a log, so that its lines need not be read. It is written in the commits of the lines. */
export interface LogRecord {
  /** Oldest first. The last one extends to the head. */
  readonly segments: readonly Segment[]
  /** The sequence number before the first line, less the lost lines before the first segment. */
  readonly base: number
  /** The commit that wrote it, by which a writer whose answer was lost recognises its own. */
  readonly commit: string
}

export interface Segment {
  /** The sequence number of the first. */
  readonly first: number
  readonly bytes: number
  /** The least and the greatest time of its lines. */
  readonly oldest: number
  readonly newest: number
  /** Lines before the first that were never written, since the queue was full. */
  readonly lost: number
}

export interface Bounds {
  readonly maxLines: number
  readonly maxBytes: number
}

/** How many segments a full log has: it drops whole ones. */
const SEGMENTS = 32

/** Adds lines to those that end at `head`. */
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

/** How many of the first segments are too many, in a log that ends at `head`. The last one stays. */
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

/** Holds as long as the record is the one that was loaded. */
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
  // The record first: then its lines are written already.
  const doc = await store.get(partition, DOC.collection, DOC.id)
  const { head, firstRetained } = await store.inspect(partition)
  const record = doc?.value as unknown as LogRecord | undefined
  return { record, version: doc?.version, head, firstRetained }
}
