import type { Serde } from './serde.ts'

/**
 * Stores an agent's state. Structurally the `BaseCheckpointSaver` of `@langchain/langgraph-checkpoint` 1.x,
 * so any LangGraph saver works here and ours work in LangGraph. It is declared here so that LangGraph need
 * not be installed.
 */
export interface Checkpointer {
  /**
   * The checkpoint that `configurable.checkpoint_id` names, otherwise the last one put in the namespace.
   * Putting a checkpoint again does not make it the last. Ids come from process clocks, so they only give
   * this order if the clocks agree.
   */
  getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined>
  /** Newest first. `options.before` is exclusive; `options.filter` matches metadata keys by equality. */
  list(config: CheckpointConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple>
  /** `config.configurable.checkpoint_id` names the parent. */
  put(
    config: CheckpointConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Record<string, ChannelVersion>,
  ): Promise<CheckpointConfig>
  putWrites(
    config: CheckpointConfig,
    writes: [channel: string, value: unknown][],
    taskId: string,
  ): Promise<void>
  /** Deletes the checkpoints and writes of every namespace of the thread. */
  deleteThread(threadId: string): Promise<void>
  /**
   * Optional: shortens a thread. Each namespace keeps its newest checkpoint with its writes, and the
   * ancestors needed to read its delta channels. Everything else is deleted in one transaction: other
   * checkpoints, their writes, and unreferenced channel values. The named parent of a remaining checkpoint
   * may be deleted.
   *
   * `asOf` is the id of the checkpoint that the thread continues from, if it is not the newest: each
   * namespace then also keeps the checkpoint that was newest at that time.
   *
   * A namespace that gets a checkpoint concurrently may stay unchanged. Do not put on top of older
   * checkpoints concurrently.
   */
  keepLatest?(threadId: string, asOf?: string): Promise<void>
  /** Optional: creates the tables that the saver needs. */
  setup?(): Promise<void>
  end?(): Promise<void>
  /**
   * Present on savers that share a database with a `Store`: a view whose writes are rejected, in the same
   * transaction, once the lease of `partition` is not held with `token`.
   */
  withFence?(partition: string, token: number): Checkpointer
  /**
   * Present on savers that serialize values, unless the user chose their serde: a view with this serde, under
   * the same fence. It may read what the default serde wrote.
   */
  withSerde?(serde: Serde): Checkpointer
}

/** Structurally a LangChain `RunnableConfig`. */
export interface CheckpointConfig {
  // biome-ignore lint/suspicious/noExplicitAny: as in LangGraph, where nothing narrower is assignable
  configurable?: Record<string, any>
}

export interface Checkpoint {
  v: number
  /** A uuid6, from the clock of the process that created it. */
  id: string
  ts: string
  channel_values: Record<string, unknown>
  channel_versions: Record<string, ChannelVersion>
  versions_seen: Record<string, Record<string, ChannelVersion>>
}

export type ChannelVersion = number | string

export type CheckpointMetadata = {
  source: 'input' | 'loop' | 'update' | 'fork'
  /** −1 for the first input checkpoint. */
  step: number
  parents: Record<string, string>
  counters_since_delta_snapshot?: Record<string, [number, number]>
}

export interface CheckpointTuple {
  config: CheckpointConfig
  checkpoint: Checkpoint
  metadata?: CheckpointMetadata
  parentConfig?: CheckpointConfig
  pendingWrites?: [taskId: string, channel: string, value: unknown][]
}

export interface CheckpointListOptions {
  limit?: number
  before?: CheckpointConfig
  // biome-ignore lint/suspicious/noExplicitAny: as in LangGraph
  filter?: Record<string, any>
}
