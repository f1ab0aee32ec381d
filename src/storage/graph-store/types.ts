/**
 * The long-term memory of agents: JSON objects by namespace and key, shared by all threads. It has the
 * methods of LangGraph's `BaseStore`, so each can replace the other. Methods throw `GraphStoreError` for
 * invalid arguments.
 */
export interface GraphStore {
  /**
   * Executes several operations in one call. Reads see the state before the batch. If a batch writes an item
   * several times, the last write wins. The writes of one namespace are atomic. Results are in the order of
   * the operations.
   */
  batch<Results = unknown[]>(operations: readonly GraphStoreOperation[]): Promise<Results>
  /** Null if the item does not exist. */
  get(namespace: string[], key: string, options?: GraphStoreReadOptions): Promise<GraphStoreItem | null>
  /**
   * Creates or replaces an item.
   *
   * @param index The fields to embed: paths such as `title` or `chapters[*].text`, or false for none.
   * Default: `fields` of the store.
   */
  put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    options?: GraphStoreWriteOptions,
  ): Promise<void>
  delete(namespace: string[], key: string): Promise<void>
  /**
   * The items under a prefix, last changed first, or nearest to `query` first. `[]` matches all namespaces.
   */
  search(namespacePrefix: string[], options?: GraphStoreSearchOptions): Promise<GraphStoreSearchItem[]>
  /** The namespaces that have items, ordered by name. */
  listNamespaces(options?: GraphStoreNamespaceOptions): Promise<string[][]>
  start(): void | Promise<void>
  stop(): void | Promise<void>
}

/** An item of the graph store. */
export interface GraphStoreItem {
  value: Record<string, unknown>
  key: string
  namespace: string[]
  createdAt: Date
  /** Increases with every put. */
  updatedAt: Date
}

/** An item that a search found. */
export interface GraphStoreSearchItem extends GraphStoreItem {
  /** The cosine similarity to the query, from -1 to 1. Absent if nothing was compared. */
  score?: number
}

/** The options of reading an item. */
export interface GraphStoreReadOptions {
  /** Whether reading an item restarts its time to live. Default: `ttl.refreshOnRead` of the store. */
  refreshTtl?: boolean
}

/** The options of writing an item. */
export interface GraphStoreWriteOptions {
  /**
   * The time to live of the item, in minutes. Null: it does not expire. Default: `ttl.defaultTtl` of the
   * store.
   */
  ttl?: number | null
}

/** The options of a search. */
export interface GraphStoreSearchOptions extends GraphStoreReadOptions {
  /**
   * Conditions on fields of the value, all of which must match: a value, or `$eq`, `$ne`, `$gt`, `$gte`,
   * `$lt`, `$lte`, `$in` and `$nin`.
   */
  filter?: Record<string, unknown>
  /** Default: 10. */
  limit?: number
  /** Default: 0. */
  offset?: number
  /** Orders by similarity to this text. Has no effect on a store without `embed`. */
  query?: string
}

/** Which namespaces to list. */
export interface GraphStoreNamespaceOptions {
  /** The first labels of the namespaces. `*` matches any one label. */
  prefix?: string[]
  /** The last labels of the namespaces. `*` matches any one label. */
  suffix?: string[]
  /** Longer namespaces are cut to this number of labels, and listed once. */
  maxDepth?: number
  /** Default: 100. */
  limit?: number
  /** Default: 0. */
  offset?: number
}

/** A condition on a namespace. `*` in `path` matches any one label. */
export interface GraphStoreMatch {
  matchType: 'prefix' | 'suffix'
  path: string[]
}

/** Reads an item. */
export interface GraphStoreGet extends GraphStoreReadOptions {
  namespace: string[]
  key: string
}

/** A null value deletes the item. */
export interface GraphStorePut extends GraphStoreWriteOptions {
  namespace: string[]
  key: string
  value: Record<string, unknown> | null
  index?: false | string[]
}

/** Searches items under a prefix. */
export interface GraphStoreSearch extends GraphStoreSearchOptions {
  namespacePrefix: string[]
}

/** Lists namespaces. All conditions must match. */
export interface GraphStoreListNamespaces {
  matchConditions?: GraphStoreMatch[] | undefined
  maxDepth?: number | undefined
  limit?: number
  offset?: number
}

/** An operation of a batch, with the fields by which LangGraph distinguishes them. */
export type GraphStoreOperation = GraphStoreGet | GraphStorePut | GraphStoreSearch | GraphStoreListNamespaces

/** Any LangGraph `BaseStore`, such as `InMemoryStore` or `PostgresStore`. */
export interface GraphStoreLike extends Omit<GraphStore, 'batch'> {
  batch(operations: never): Promise<unknown>
}

/** How the server's store keeps the items of graphs. */
export interface GraphStoreOptions {
  /**
   * Embeds texts in order, so that `search` can order by similarity to a `query`. Called once for all texts
   * of a batch. Default: none.
   */
  readonly embed?: ((texts: string[]) => Promise<readonly (readonly number[])[]>) | undefined
  /** The length of the vectors. Default: any length, but the same for all vectors. */
  readonly dims?: number | undefined
  /**
   * The texts of a value to embed: paths such as `title`, `chapters[*].text` or `notes[-1]`. Default: `$`,
   * the whole value as JSON.
   */
  readonly fields?: readonly string[] | undefined
  readonly ttl?: GraphStoreTtl | undefined
}

/** When items expire. */
export interface GraphStoreTtl {
  /** The time to live of items that are put without a `ttl`, in minutes. Default: items do not expire. */
  readonly defaultTtl?: number | undefined
  /** Whether reading an item restarts its time to live. Default: true. */
  readonly refreshOnRead?: boolean | undefined
}
