import type { Json, Store } from '../../storage/store/store.ts'

/** What is known of a log without reading its lines. It is written in the commits of the lines. */
export interface LogRecord {
  /** Oldest first. The last one goes on to the head. */
  readonly segments: readonly Segment[]
  /** The sequence number before the first line, less the lines before the first segment that were never written. */
  readonly base: number
  /** The commit that wrote it: a writer whose answer was lost recognises its own. */
  readonly commit: string
}

/** Some lines that follow each other. */
export interface Segment {
  /** The sequence number of the first. */
  readonly first: number
  readonly bytes: number
  /** The least and the greatest time of its lines. */
  readonly oldest: number
  readonly newest: number
  /** Lines before the first that were never written: there was no room for them while the store was away. */
  readonly lost: number
}

export interface Bounds {
  readonly maxLines: number
  readonly maxBytes: number
}

/** How many segments a full log has: it loses its lines by whole ones. */
const SEGMENTS = 32

/** Adds lines behind the others, which end at `head`. */
export function extend(
  segments: readonly Segment[],
  head: number,
  added: Segment,
  bounds: Bounds,
): Segment[] {
  const last = segments.at(-1)
  const isFull =
    !last ||
    added.lost > 0 ||
    head + 1 - last.first >= bounds.maxLines / SEGMENTS ||
    last.bytes + added.bytes > bounds.maxBytes / SEGMENTS
  if (isFull) return [...segments, added]
  const joined: Segment = {
    first: last.first,
    bytes: last.bytes + added.bytes,
    oldest: Math.min(last.oldest, added.oldest),
    newest: Math.max(last.newest, added.newest),
    lost: last.lost,
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

const COLLECTION = 'logs'
const ID = 'log'

export const putRecordOp = (record: LogRecord) =>
  ({ op: 'put', collection: COLLECTION, id: ID, value: record as unknown as Json }) as const

/** Holds as long as the record is the one that was loaded. */
export const recordGuard = (version: number | undefined) =>
  version === undefined
    ? ({ guard: 'absent', collection: COLLECTION, id: ID } as const)
    : ({ guard: 'version', collection: COLLECTION, id: ID, version } as const)

/** A log as it is now. */
export interface LogState {
  readonly record: LogRecord | undefined
  readonly version: number | undefined
  readonly head: number
  readonly firstRetained: number
}

export async function loadState(store: Store, partition: string): Promise<LogState> {
  // The record first: its lines are then written.
  const doc = await store.get(partition, COLLECTION, ID)
  const { head, firstRetained } = await store.inspect(partition)
  return {
    record: doc?.value as unknown as LogRecord | undefined,
    version: doc?.version,
    head,
    firstRetained,
  }
}
