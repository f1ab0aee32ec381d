import { eventLoopTurns } from '../../core/time.ts'
import type {
  ChannelVersion,
  Checkpoint,
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer.ts'
import { addressOf, configOf, isReadOnly, nextVersion, type SavedAt, throwMissing } from './config.ts'
import { collectHistory, type DeltaHistory } from './delta-history.ts'
import {
  type FindsNewest,
  NEWEST,
  type ReadTuples,
  type Remainder,
  remaindersOf,
} from './newest-checkpoint.ts'
import type { Serde } from './serde.ts'

/** All of LangGraph's `BaseCheckpointSaver`, for `graph.compile({ checkpointer })`. */
export interface CheckpointSaver extends Checkpointer {
  readonly serde: Serde
  get(config: CheckpointConfig): Promise<Checkpoint | undefined>
  keepLatest(threadId: string, asOf?: string): Promise<void>
  getNextVersion(current: number | undefined): number
  getDeltaChannelHistory(options: {
    config: CheckpointConfig
    channels: string[]
  }): Promise<Record<string, DeltaHistory>>
  toJSON(): string
}

export interface NewCheckpoint {
  readonly threadId: string
  readonly namespace: string
  readonly parentId: string | undefined
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
  /** The channels with new values. The values of the others are in earlier checkpoints. */
  readonly newVersions: Readonly<Record<string, ChannelVersion>>
}

export interface NewWrites {
  readonly threadId: string
  readonly namespace: string
  readonly checkpointId: string
  readonly taskId: string
  readonly writes: readonly (readonly [channel: string, value: unknown])[]
}

/**
 * Checkpoints by address, with their values. Callers may change the arguments after a call has returned its
 * promise.
 */
export interface CheckpointTuples extends ReadTuples {
  list(config: CheckpointConfig, options: CheckpointListOptions | undefined): AsyncGenerator<CheckpointTuple>
  put(checkpoint: NewCheckpoint): Promise<void>
  putWrites(writes: NewWrites): Promise<void>
  deleteThread(threadId: string): Promise<void>
  /** Deletes all checkpoints that these remainders do not keep. */
  keepOnly(threadId: string, remainders: readonly Remainder[]): Promise<void>
}

/** `name` is what `JSON.stringify` shows for the saver. */
export function createSaver(
  name: string,
  serde: Serde,
  tuples: CheckpointTuples,
): Omit<CheckpointSaver, 'withSerde'> & FindsNewest {
  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const at = savedAt(config)
    return at && tuples.load(at, isReadOnly(config))
  }

  return {
    serde,
    getTuple,
    [NEWEST]: tuples.newest,
    async get(config) {
      return (await getTuple(config))?.checkpoint
    },
    async *list(config, options) {
      const turn = eventLoopTurns()
      for await (const tuple of tuples.list(config, options)) {
        yield tuple
        await turn()
      }
    },
    async put(config, checkpoint, metadata, newVersions) {
      const { threadId, namespace, checkpointId: parentId } = savedAt(config) ?? throwMissing('thread_id')
      await tuples.put({ threadId, namespace, parentId, checkpoint, metadata, newVersions })
      return configOf(threadId, namespace, checkpoint.id)
    },
    async putWrites(config, writes, taskId) {
      const { threadId, namespace, checkpointId } = savedAt(config) ?? throwMissing('thread_id')
      if (checkpointId === undefined) throwMissing('checkpoint_id')
      await tuples.putWrites({ threadId, namespace, checkpointId, taskId, writes })
    },
    deleteThread: (threadId) => tuples.deleteThread(threadId),
    keepLatest: async (threadId, asOf) =>
      tuples.keepOnly(threadId, await remaindersOf(tuples, threadId, asOf)),
    getNextVersion: nextVersion,
    async getDeltaChannelHistory({ config, channels }) {
      const at = savedAt(config)
      return collectHistory(channels, at ? tuples.ancestors(at, channels) : [])
    },
    toJSON: () => `[${name}]`,
  }
}

function savedAt(config: CheckpointConfig): SavedAt | undefined {
  const { threadId, namespace = '', checkpointId } = addressOf(config)
  return threadId === undefined ? undefined : { threadId, namespace, checkpointId }
}
