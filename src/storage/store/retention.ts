/**
 * What `sweep` drops from event logs, by whole appends, oldest first. It drops nothing from a partition whose
 * lease was not released, because its run has not ended, even if its process has.
 */
export interface RetentionOptions {
  /**
   * Limit for one partition's log, in bytes. The last append always stays. Default: none, in memory 16 MiB.
   */
  readonly maxThreadBytes?: number | undefined
  /**
   * Limit for all logs together, in bytes. The log with the oldest last append loses events first. Default:
   * none, in memory 256 MiB.
   */
  readonly maxTotalBytes?: number | undefined
  /** Maximum age of events, in milliseconds. Default: none. */
  readonly maxAgeMs?: number | undefined
}

/** The state of a log with events. */
export interface RetainedLog {
  /** Where its first kept append starts and its last one ends, among all bytes ever appended to it. */
  readonly starts: number
  readonly ends: number
  /** When its first and last appends were committed, by the store's clock. */
  readonly oldestAt: number
  readonly newestAt: number
  readonly isLeased: boolean
}

/** Which appends of a log to keep: those committed since `since` that start at `from` or later. */
export interface Retained {
  readonly since: number
  readonly from: number
  /** Whether the last append is kept wherever it starts. */
  readonly keepsLast: boolean
}

/** How a database lists and trims its logs. */
export interface RetainedLogs<Log extends RetainedLog> {
  /** Every log with events, and the time by the store's clock. */
  pages(): AsyncIterable<{ readonly now: number; readonly logs: readonly Log[] }>
  /**
   * Drops what is not kept, unless the log is leased by now, or starts elsewhere because another process has
   * dropped events. Returns the log's new state, or undefined if it is empty.
   */
  drop(log: Log, retained: Retained): Promise<Log | undefined>
}

/** Postgres does the same in SQL: see `expire` and `evict` there. */
export async function applyRetention<Log extends RetainedLog>(
  { maxThreadBytes = Infinity, maxTotalBytes = Infinity, maxAgeMs = Infinity }: RetentionOptions,
  { pages, drop }: RetainedLogs<Log>,
): Promise<void> {
  if (maxThreadBytes === Infinity && maxTotalBytes === Infinity && maxAgeMs === Infinity) return
  const idle: Log[] = []
  let total = 0
  for await (const { now, logs } of pages()) {
    const since = now - maxAgeMs
    for (const seen of logs) {
      const from = seen.ends - maxThreadBytes
      const isWithin = seen.isLeased || (seen.oldestAt >= since && seen.starts >= from)
      const log = isWithin ? seen : await drop(seen, { since, from, keepsLast: true })
      if (!log) continue
      total += log.ends - log.starts
      if (!log.isLeased && maxTotalBytes !== Infinity) idle.push(log)
    }
  }
  idle.sort((a, b) => a.newestAt - b.newestAt)
  for (const log of idle) {
    const excess = total - maxTotalBytes
    if (excess <= 0) return
    const dropped = Math.min(excess, log.ends - log.starts)
    await drop(log, { since: -Infinity, from: log.starts + dropped, keepsLast: false })
    total -= dropped
  }
}
