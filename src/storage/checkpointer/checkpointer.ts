import type { Serde } from './serde.ts'

/**
 * What keeps an agent's state: structurally the `BaseCheckpointSaver` of `@langchain/langgraph-checkpoint` 1.x, so that any
 * LangGraph saver plugs in as it is and ours plug into LangGraph. Spelled out here so that nobody needs LangGraph installed.
 */
export interface Checkpointer {
  /**
   * The checkpoint that `configurable.checkpoint_id` names, else the newest of the namespace: the one that was put last. Ids are made
   * from the clocks of processes, so they tell it only while these agree. One that is put again keeps its place.
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
  /** Checkpoints and writes of every namespace of the thread. */
  deleteThread(threadId: string): Promise<void>
  /**
   * Present on savers that can shorten a thread. Of each namespace only the newest checkpoint stays, with its writes, and with the
   * ancestors that it is still read from: those that hold what its delta channels were written. All else goes in one transaction:
   * other checkpoints, their writes, and the values of channels that no checkpoint has any more. A checkpoint that stays names the
   * parent that it had, which may be gone.
   *
   * `asOf` is the id of the checkpoint that the thread goes on from, where that is not the newest: what was the newest of each
   * namespace then stays as well.
   *
   * A namespace that gets a checkpoint meanwhile may stay as it is. Nothing may be put on top of older checkpoints meanwhile.
   */
  keepLatest?(threadId: string, asOf?: string): Promise<void>
  /** Present on savers that must create tables first. */
  setup?(): Promise<void>
  end?(): Promise<void>
  /**
   * Present on savers that share a database with a `Store`: a view whose writes are refused, in the same transaction, once the
   * lease of `partition` is no longer held with `token`.
   */
  withFence?(partition: string, token: number): Checkpointer
  /**
   * Present on savers that make bytes of values, as long as their serde was not chosen: a view with this one, under the same
   * fence. It may read what the default serde wrote.
   */
  withSerde?(serde: Serde): Checkpointer
}

/** Structurally a LangChain `RunnableConfig`. */
export interface CheckpointConfig {
  // biome-ignore lint/suspicious/noExplicitAny: LangGraph types `configurable` as Record<string, any>; anything narrower is not assignable
  configurable?: Record<string, any>
}

export interface Checkpoint {
  v: number
  /** A uuid6 of the clock of the process that made it. */
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
