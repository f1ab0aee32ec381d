/**
 * What `sweep` drops of event logs, by whole appends and the oldest first. Nothing goes of a partition whose lease was not
 * released: its run is not over, though its process may be.
 */
export interface RetentionOptions {
  /** Bound on the log of one partition, in bytes. The last append stays. Default: none. */
  readonly maxThreadBytes?: number | undefined
  /** Bound on all logs together, in bytes. The log that was longest without an append loses events first. Default: none. */
  readonly maxTotalBytes?: number | undefined
  /** How old events may become, in milliseconds. Default: any age. */
  readonly maxAgeMs?: number | undefined
}
