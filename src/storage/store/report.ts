/** What a storage is and holds, as its `report()` says. */
export interface StorageReport {
  /** A short name for messages: `sqlite`, `postgres`, `redis`. */
  readonly name: string
  /** A storage that cannot be reached throws `UnavailableError` instead. */
  readonly reachable: true
  /**
   * The version of what is installed, 0 before `setup()`, and the one that this version of the library brings
   * it to.
   */
  readonly schema: { readonly version: number; readonly newest: number }
  /** What was acknowledged survives a crash of the database's process. */
  readonly durable: boolean
  /** What an operator should know or change, each a sentence. */
  readonly warnings: readonly string[]
  /** Of the whole storage, for all owners. Large tables may be estimated. */
  readonly counts: StorageCounts
  /** What the storage occupies; undefined where the backend does not say. */
  readonly bytes: number | undefined
}

export interface StorageCounts {
  /** Partitions that ever existed: their counters stay when all else of them is gone. */
  readonly partitions: number
  /** Those that have expired and were not swept yet count too. */
  readonly documents: number
  readonly events: number
  /** Held and not expired. */
  readonly leases: number
  readonly checkpoints: number
}

/** What a store alone can say: the saver's checkpoints may be elsewhere. */
export interface StoreReport extends Omit<StorageReport, 'counts'> {
  readonly counts: Omit<StorageCounts, 'checkpoints'> & Partial<Pick<StorageCounts, 'checkpoints'>>
}
