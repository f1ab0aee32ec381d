import type { StoreReport } from './report.ts'

/**
 * Keeps everything but checkpoints, in partitions (a thread, a deployment). A partition has documents, one
 * numbered event log and one lease; `commit` changes all three at once or none of them.
 */
export interface Store {
  /** One document, or undefined when it is absent or expired. */
  get(partition: string, collection: string, id: string): Promise<Doc | undefined>
  /**
   * Documents of one collection across partitions. A page by `orderBy` alone must cost about the same however
   * many documents there are: a caller that lists a group of documents gives the group a field.
   */
  list(collection: string, query?: ListQuery): Promise<DocPage>
  /**
   * How many documents of the collection have the index field, at about the same cost however many there are.
   * Expired documents count until a sweep, and one that is being written may count twice for that moment.
   */
  count(collection: string, field: string): Promise<number>
  /**
   * The only write: all ops, or none and `ConflictError` or `FencedError`, where a guard or op does not hold.
   */
  commit(partition: string, change: Change): Promise<Committed>
  /**
   * Events after `after`, oldest first, in one batch, which is empty at the head. Where `after + 1 <
   * firstRetained` it starts at `firstRetained`: the caller must report the gap.
   */
  read(partition: string, query: ReadQuery): Promise<LogBatch>
  /**
   * What a writer must know before it commits, read together: the state of the partition, and those of its
   * documents that it names, in their order.
   */
  inspect(partition: string, docs?: readonly DocKey[]): Promise<Inspection>
  /** Throws `FencedError` unless the partition's lease is held with this token and is not expired. */
  assertFence(partition: string, token: number): Promise<void>
  /**
   * Calls `listener` after commits to the partition, until the returned function is called. A notification
   * may be late, lost or spurious, so a reader also keeps a timer of at most one second.
   */
  watch(partition: string, listener: PartitionListener): () => void
  /** Leases that have expired and were not released, oldest first. */
  expired(query?: { readonly limit?: number }): Promise<readonly LeaseRecord[]>
  /** Drops old events of a log. This library never drops those of an unfinished run. */
  trim(partition: string, bound: TrimBound): Promise<void>
  /** Purges what has expired. Safe to call from several processes. */
  sweep(): Promise<void>
  /** Creates or migrates what the backend needs. Safe to call twice, and from two processes at once. */
  setup(): Promise<void>
  close(): Promise<void>
  /** What it is and holds, for operators. It may look at everything, so nothing calls it by itself. */
  report?(): Promise<StoreReport>
  readonly capabilities: StoreCapabilities
}

export interface StoreCapabilities {
  /** A short name for messages: `memory`, `sqlite`, `postgres`, `redis`. */
  readonly name: string
  /** Other processes see what this one commits. */
  readonly shared: boolean
  /** What is committed survives the process. */
  readonly durable: boolean
  /** How long to gather events before one append, in milliseconds. 0 = the same turn of the event loop. */
  readonly coalesceMs: number
}

/** Stores keep documents as JSON and give back copies. */
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
  /** Rises with each put of this id, also after a delete and re-create. */
  readonly version: number
  readonly index: DocIndex
}

/** Fields that `list` can match and order by. */
export type DocIndex = Readonly<Record<string, string | number>>

export interface ListQuery {
  readonly partition?: string
  /** Equality on index fields; all must match. */
  readonly where?: DocIndex
  /**
   * An index field; ties break by partition and id, which are the default. Documents without it are left out.
   */
  readonly orderBy?: string
  readonly descending?: boolean
  /** Default 100, at most 1,000. */
  readonly limit?: number
  readonly cursor?: string
  /** How many documents to skip. Only with `orderBy`, `descending` and `limit`. Default 0. */
  readonly offset?: number
}

export interface DocPage {
  readonly docs: readonly Doc[]
  /** Pass it back for the next page; absent at the end. Stable under inserts. */
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
  /** The lease is held with this token and is not expired. Throws `FencedError`, not `ConflictError`. */
  | { readonly guard: 'fence'; readonly token: number }
  /** Nobody holds the lease, or it has expired. */
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
      /** A lower bound: the document stays at least this long. Absent = for ever. */
      readonly ttlMs?: number
    }
  | { readonly op: 'delete'; readonly collection: string; readonly id: string }
  /** Numbered from head + 1 without gaps. `token` is stored with each event. */
  | { readonly op: 'append'; readonly token: number; readonly events: readonly LogEvent[] }
  /** Takes the lease. `ConflictError` unless the token is above every earlier one of the partition. */
  | { readonly op: 'claim'; readonly owner: string; readonly token: number; readonly ttlMs: number }
  /** `FencedError` unless the lease is held with this token. It may have expired. */
  | { readonly op: 'renew'; readonly token: number; readonly ttlMs: number }
  /** Does nothing when the lease is held with another token. */
  | { readonly op: 'release'; readonly token: number }
  /** Drops documents, log and lease of the partition; sequence numbers and tokens are never issued again. */
  | { readonly op: 'clear' }

export interface LogEvent {
  /** What a reader filters by. There are few distinct values, which stores intern. */
  readonly topic: string
  /** Opaque bytes. Never mutated after the commit, by either side. */
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
  /** The highest fencing token ever issued in the partition; 0 before the first. */
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

export interface Inspection extends PartitionState {
  /** As `get` gives each of them, in the order in which they were asked for. */
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
  /** Most events in the batch. Default 1,000. */
  readonly limit?: number
  /** Soft bound on the bytes of a batch; one event is always given. Default 64 KiB. */
  readonly maxBytes?: number
}

/**
 * Events in columns, so that a reader can hand one slice of bytes to a socket. Event `i` (0 ≤ i < count) has
 * the sequence number `first + i`, the data `bytes[offsets[i] .. offsets[i + 1]]`, the origin
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

/** Topic and writer of an event. Events share these objects. */
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
