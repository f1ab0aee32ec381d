import type { StoreReport } from './report.ts'

/**
 * Stores everything except checkpoints, in partitions (a thread, a deployment). A partition has documents,
 * one numbered event log and one lease. `commit` changes all three atomically.
 */
export interface Store {
  /** One document, or undefined if it is absent or expired. */
  get(partition: string, collection: string, id: string): Promise<Doc | undefined>
  /**
   * Documents of one collection in many partitions, in one read: each as `get` returns it, in the requested
   * order. At most 1,000.
   */
  getMany(collection: string, places: readonly DocPlace[]): Promise<readonly (Doc | undefined)[]>
  /**
   * Documents of one collection across partitions. The cost of a page by `orderBy` alone must not depend on
   * the number of documents: a caller that lists a group of documents gives the group its own field.
   */
  list(collection: string, query?: ListQuery): Promise<DocPage>
  /**
   * The number of documents in the collection that have the index field. Its cost must not depend on that
   * number. Expired documents count until a sweep, and a document that is being written may briefly count
   * twice.
   */
  count(collection: string, field: string): Promise<number>
  /**
   * The only write. It applies all ops, or none and throws `ConflictError` or `FencedError` if a guard or op
   * fails.
   */
  commit(partition: string, change: Change): Promise<Committed>
  /**
   * Events after `after`, oldest first, in one batch, which is empty at the head. If
   * `after + 1 < firstRetained`, it starts at `firstRetained`, and the caller must report the gap.
   */
  read(partition: string, query: ReadQuery): Promise<LogBatch>
  /**
   * What a writer needs before it commits, in one read: the state of the partition and the given documents,
   * in the same order.
   */
  inspect(partition: string, docs?: readonly DocKey[]): Promise<Inspection>
  /** Throws `FencedError` unless the partition's lease is held with this token and has not expired. */
  assertFence(partition: string, token: number): Promise<void>
  /**
   * Calls `listener` after commits to the partition, until the returned function is called. A notification
   * may be late, lost or spurious, so a reader also needs a timer of at most one second.
   */
  watch(partition: string, listener: PartitionListener): () => void
  /** Leases that have expired and were not released, oldest first. */
  expired(query?: { readonly limit?: number }): Promise<readonly LeaseRecord[]>
  /** Drops old events of a log. This library never drops those of an unfinished run. */
  trim(partition: string, bound: TrimBound): Promise<void>
  /** Removes what has expired. Several processes may call it. */
  sweep(): Promise<void>
  /**
   * Creates or migrates what the backend needs. It may be called repeatedly, also from several processes at
   * once.
   */
  setup(): Promise<void>
  close(): Promise<void>
  /**
   * The storage's state and counts, for operators. It may read everything, so the library never calls it on
   * its own.
   */
  report?(): Promise<StoreReport>
  readonly capabilities: StoreCapabilities
}

export interface StoreCapabilities {
  /** A short name for messages: `memory`, `sqlite`, `postgres`, `redis`. */
  readonly name: string
  /** Whether other processes see this process's commits. */
  readonly shared: boolean
  /** Whether commits survive the process. */
  readonly durable: boolean
  /**
   * How long to collect events before an append, in milliseconds. 0 means the same turn of the event loop.
   */
  readonly coalesceMs: number
}

/** Stores keep documents as JSON and return copies. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

export interface Doc {
  readonly partition: string
  readonly id: string
  readonly value: Json
  /** Increases with each put of this id, also after a delete and a new put. */
  readonly version: number
  readonly index: DocIndex
}

/** Fields that `list` can match and order by. */
export type DocIndex = Readonly<Record<string, string | number>>

export interface ListQuery {
  readonly partition?: string
  /** Equality on index fields. All must match. */
  readonly where?: DocIndex
  /**
   * An index field. Ties are ordered by partition and id, which are also the default order. Documents without
   * the field are left out.
   */
  readonly orderBy?: string
  readonly descending?: boolean
  /** Default 100, at most 1,000. */
  readonly limit?: number
  readonly cursor?: string
  /** The number of documents to skip. Only with `orderBy`, `descending` and `limit`. Default 0. */
  readonly offset?: number
}

export interface DocPage {
  readonly docs: readonly Doc[]
  /** Pass it back for the next page. Absent at the end. Stable under inserts. */
  readonly cursor?: string
}

export interface Change {
  readonly guards?: readonly Guard[]
  readonly ops: readonly Op[]
  readonly signal?: AbortSignal
}

export type Guard =
  /** The document has this version. */
  | { readonly guard: 'version'; readonly collection: string; readonly id: string; readonly version: number }
  | { readonly guard: 'absent'; readonly collection: string; readonly id: string }
  /** The lease is held with this token and has not expired. Throws `FencedError`, not `ConflictError`. */
  | { readonly guard: 'fence'; readonly token: number }
  /** The lease is not held, or has expired. */
  | { readonly guard: 'free' }
  /** The last sequence number of the log. */
  | { readonly guard: 'head'; readonly seq: number }

export type Op =
  | {
      readonly op: 'put'
      readonly collection: string
      readonly id: string
      readonly value: Json
      readonly index?: DocIndex
      /** The document is kept at least this long, in milliseconds. Absent: forever. */
      readonly ttlMs?: number
    }
  | { readonly op: 'delete'; readonly collection: string; readonly id: string }
  /** Numbered from head + 1 without gaps. `token` is stored with each event. */
  | { readonly op: 'append'; readonly token: number; readonly events: readonly LogEvent[] }
  /**
   * Takes the lease. Throws `ConflictError` unless the token is higher than every earlier one of the
   * partition.
   */
  | { readonly op: 'claim'; readonly owner: string; readonly token: number; readonly ttlMs: number }
  /** Throws `FencedError` unless the lease is held with this token. It may have expired. */
  | { readonly op: 'renew'; readonly token: number; readonly ttlMs: number }
  /** Does nothing if the lease is held with another token. */
  | { readonly op: 'release'; readonly token: number }
  /** Drops the partition's documents, log and lease. Sequence numbers and tokens are never reused. */
  | { readonly op: 'clear' }

export interface LogEvent {
  /** What a reader filters by. There are few distinct values, and stores intern them. */
  readonly topic: string
  /** Opaque bytes. Neither side changes them after the commit. */
  readonly data: Uint8Array
}

export interface Committed {
  /** The log's last sequence number after the commit. */
  readonly head: number
  /** Versions of the documents put, in the order of the `put` ops. */
  readonly versions: readonly number[]
}

export interface PartitionState {
  readonly head: number
  readonly firstRetained: number
  /** The highest fencing token ever issued in the partition. 0 before the first. */
  readonly token: number
  readonly lease: LeaseRecord | undefined
  /** The store's clock, in milliseconds since 1970. */
  readonly now: number
}

/** A document of a partition. */
export interface DocKey {
  readonly collection: string
  readonly id: string
}

/** A document of a collection. */
export interface DocPlace {
  readonly partition: string
  readonly id: string
}

export interface Inspection extends PartitionState {
  /** Each as `get` returns it, in the requested order. */
  readonly docs: readonly (Doc | undefined)[]
}

export interface LeaseRecord {
  readonly partition: string
  readonly owner: string
  readonly token: number
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAt: number
}

export interface ReadQuery {
  /** Exclusive. 0 reads from the start. */
  readonly after: number
  /** Maximum number of events in the batch. Default 1,000. */
  readonly limit?: number
  /**
   * Soft limit on the bytes of a batch. A batch always has at least one event, if there is one. Default 64
   * KiB.
   */
  readonly maxBytes?: number
}

/**
 * Events in columns, so that a reader can pass one slice of bytes to a socket. Event `i` (0 ≤ i < count) has
 * the sequence number `first + i`, the data `bytes[offsets[i] .. offsets[i + 1]]`, and the origin
 * `origins[originOf[i]]`.
 */
export interface LogBatch {
  readonly first: number
  readonly count: number
  readonly bytes: Uint8Array
  readonly offsets: Uint32Array
  readonly origins: readonly LogOrigin[]
  readonly originOf: Uint16Array
  readonly head: number
  readonly firstRetained: number
}

/** The topic and writer of an event. Events share these objects. */
export interface LogOrigin {
  readonly topic: string
  readonly token: number
}

export type TrimBound = { readonly keepLast: number } | { readonly olderThanMs: number }

/** What changed in a partition: its log, its documents or lease, or both. */
export interface PartitionChange {
  readonly log: boolean
  readonly docs: boolean
}

export type PartitionListener = (change: PartitionChange) => void
