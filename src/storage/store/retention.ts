/**
 * What `sweep` drops of event logs, by whole appends and the oldest first. It drops nothing of a partition
 * whose lease was not released, because its run is not over, even if its process is.
 */
export interface RetentionOptions {
  /** Bound on the log of one partition, in bytes. The last append stays. Default: none, in memory 16 MiB. */
  readonly maxThreadBytes?: number | undefined
  /**
   * Bound on all logs together, in bytes. The log with the oldest last append loses events first.
   * Default: none, in memory 256 MiB.
   */
  readonly maxTotalBytes?: number | undefined
  /** How old events may become, in milliseconds. Default: any age. */
  readonly maxAgeMs?: number | undefined
}

/** A log with events, as it was seen. */
export interface RetainedLog {
  /** Where its first kept append begins, and its last one ends, among all bytes ever appended to it. */
  readonly starts: number
  readonly ends: number
  /** When its first and last appends were committed, by the store's clock. */
  readonly oldestAt: number
  readonly newestAt: number
  readonly isLeased: boolean
}

/** Which appends of a log stay: those committed since a time that begin at `from` or behind. */
export interface Retained {
  readonly since: number
  readonly from: number
  /** Whether the last append stays wherever it begins. */
  readonly keepsLast: boolean
}

/** How a database lists its logs and drops of them. */
export interface RetainedLogs<Log extends RetainedLog> {
  /** Every log with events, and the time by the store's clock. */
  pages(): AsyncIterable<{ readonly now: number; readonly logs: readonly Log[] }>
  /**
   * Drops what does not stay, unless the log is leased by now or starts elsewhere, because another process
   * dropped events of it. Gives the log as it is then, undefined where nothing is left of it.
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
