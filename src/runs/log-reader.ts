import type { LogBatch, ReadQuery, Store } from '../storage/store/store.ts'

/** How the subscribers of one thread read its log. */
export interface LogReader {
  /** As `store.read`. What comes after `after` may be older than the newest ring: see `fresh`. */
  read(query: ReadQuery): Promise<LogBatch>
  /** How often the bell had rung when the head of the batches was last looked up. */
  fresh(): number
}

/** Bytes of a log that are kept for those who are a little behind. */
const KEPT_BYTES = 256 * 1024
/** What one read asks for: over a wire a few large ones are much cheaper than many small ones. */
const READ_BYTES = 256 * 1024

/** For a store whose reads cost nothing: each reads it alone. */
export const directReader = (store: Store, threadId: string): LogReader => ({
  read: (query) => store.read(threadId, query),
  fresh: () => Number.POSITIVE_INFINITY,
})

/**
 * For a store that is asked over a wire: whoever has come to the end of what was read shares the next read with all who wait
 * there, so that a ring costs one read however many listen. Whoever is behind finds the latest batches here, or reads the
 * store alone.
 */
export function sharedReader(store: Store, threadId: string, rings: () => number): LogReader {
  let kept: LogBatch[] = []
  let bytes = 0
  /** The last sequence number that was read. */
  let end = -1
  let newest: LogBatch | undefined
  let fresh = -1
  let reading: Promise<void> | undefined

  /** The first to read, or one that begins nearer to the head: from here on it is read for all. */
  function startAt(after: number): void {
    kept = []
    bytes = 0
    end = after
    fresh = -1
  }

  async function readOn(): Promise<void> {
    const from = end
    const seen = rings()
    try {
      const batch = await store.read(threadId, { after: from, maxBytes: READ_BYTES })
      if (from !== end) return
      newest = batch
      // The store has lost what was read: it will deal these numbers again.
      if (batch.head < end) kept = []
      if (batch.count > 0) keep(batch)
      if (batch.count === 0 || end >= batch.head) fresh = seen
    } finally {
      reading = undefined
    }
  }

  function keep(batch: LogBatch): void {
    // The log was cut back, also behind what was read.
    if (batch.first > end + 1) startAt(batch.first - 1)
    kept.push(batch)
    bytes += batch.bytes.length
    end = batch.first + batch.count - 1
    while (kept.length > 1 && bytes > KEPT_BYTES) bytes -= kept.shift()!.bytes.length
  }

  return {
    fresh: () => fresh,
    async read({ after, limit = Number.POSITIVE_INFINITY }) {
      for (;;) {
        const batch = kept.findLast(({ first }) => first <= after + 1)
        if (batch && newest && after < batch.first + batch.count - 1) return part(batch, after, limit, newest)
        if (after < end)
          return store.read(threadId, { after, maxBytes: READ_BYTES, ...(limit < Infinity && { limit }) })
        if (after > end) startAt(after)
        if (newest && fresh === rings()) return part(newest, after, 0, newest)
        await (reading ??= readOn())
      }
    },
  }
}

/** A batch from after a place in it, with what was last known of the log. The bytes are the same. */
function part(
  { first, count, bytes, offsets, origins, originOf }: LogBatch,
  after: number,
  limit: number,
  { head, firstRetained }: LogBatch,
): LogBatch {
  const from = Math.min(after + 1 - first, count)
  const to = Math.min(count, from + limit)
  return {
    first: after + 1,
    count: to - from,
    bytes,
    offsets: offsets.subarray(from, to + 1),
    origins,
    originOf: originOf.subarray(from, to),
    head,
    firstRetained,
  }
}
