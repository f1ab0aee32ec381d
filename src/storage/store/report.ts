/** The kind, state and counts of a storage, as `report()` returns them. */
export interface StorageReport {
  /** A short name for messages: `sqlite`, `postgres`, `redis`. */
  readonly name: string
  /** A storage that cannot be reached throws `UnavailableError` instead. */
  readonly reachable: true
  /**
   * The installed schema version, 0 before `setup()`, and the newest one, which this version of the library
   * migrates to.
   */
  readonly schema: { readonly version: number; readonly newest: number }
  /** Whether acknowledged commits survive a crash of the database process. */
  readonly durable: boolean
  /** What an operator should know or change, one sentence each. */
  readonly warnings: readonly string[]
  /** Counts for the whole storage and all owners. Large tables may be estimated. */
  readonly counts: StorageCounts
  /** The size of the storage. Undefined if the backend does not report it. */
  readonly bytes: number | undefined
}

export interface StorageCounts {
  /** Partitions that ever existed. Their counters stay when everything else is removed. */
  readonly partitions: number
  /** Includes expired documents that were not swept yet. */
  readonly documents: number
  readonly events: number
  /** Held and not expired. */
  readonly leases: number
  readonly checkpoints: number
}

/** The report of a store alone. The saver's checkpoints may be stored elsewhere. */
export interface StoreReport extends Omit<StorageReport, 'counts'> {
  readonly counts: Omit<StorageCounts, 'checkpoints'> & Partial<Pick<StorageCounts, 'checkpoints'>>
}
