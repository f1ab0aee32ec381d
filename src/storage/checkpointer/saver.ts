import type { MemoryCheckpointer } from '../memory/checkpointer.ts'
import type {
  Checkpoint,
  CheckpointConfig,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer.ts'
import { addressOf, configOf, missing, nextVersion } from './config.ts'
import { type Ancestor, collectHistory } from './delta-history.ts'
import { DATABASE } from './fenced.ts'
import { jsonSerde, type Serde } from './serde.ts'

/** A `Checkpointer` over a database, with all of LangGraph's `BaseCheckpointSaver`: fit for `graph.compile({ checkpointer })`. */
export interface DurableCheckpointer extends MemoryCheckpointer {
  readonly [DATABASE]: object
  setup(): Promise<void>
  end(): Promise<void>
  withFence(partition: string, token: number): DurableCheckpointer
  withSerde?(serde: Serde): DurableCheckpointer
}

/** The lease under which a view writes. */
export interface Fence {
  readonly partition: string
  readonly token: number
}

export interface SavedAt {
  readonly threadId: string
  readonly namespace: string
  /** Undefined: the newest of the namespace. */
  readonly checkpointId: string | undefined
}

export interface NewCheckpoint {
  readonly threadId: string
  readonly namespace: string
  readonly parentId: string | undefined
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
  /** Which channels are written; the values of the others are found with earlier checkpoints. */
  readonly isNew: (channel: string) => boolean
  /** Where several earlier checkpoints have a channel's version, for branches number alike: take the last. */
  readonly latest: boolean
}

export interface NewWrites {
  readonly threadId: string
  readonly namespace: string
  readonly checkpointId: string
  readonly taskId: string
  readonly writes: readonly (readonly [channel: string, value: unknown])[]
}

/** What a saver needs of its database. Whatever checks a fence does so in the transaction that writes. */
export interface SaverTables {
  load(serde: Serde, at: SavedAt): Promise<CheckpointTuple | undefined>
  list(
    serde: Serde,
    config: CheckpointConfig,
    options: CheckpointListOptions | undefined,
  ): AsyncGenerator<CheckpointTuple>
  /** Gives the channels that several earlier checkpoints have, unless told to take the latest; it has written nothing then. */
  put(serde: Serde, fence: Fence | undefined, checkpoint: NewCheckpoint): Promise<readonly string[]>
  putWrites(serde: Serde, fence: Fence | undefined, writes: NewWrites): Promise<void>
  deleteThread(threadId: string): Promise<void>
  /** Nearest first, without the checkpoint itself. */
  ancestors(serde: Serde, at: SavedAt, channels: readonly string[]): AsyncIterable<Ancestor>
}

export interface SaverOptions {
  /** For `JSON.stringify`. */
  readonly name: string
  readonly database: { setup(): Promise<void> }
  readonly tables: SaverTables
  /** Undefined: `jsonSerde`, until a view is given another. */
  readonly serde: Serde | undefined
  readonly close: () => Promise<void>
  readonly fence?: Fence | undefined
}

export function createSaver(options: SaverOptions): DurableCheckpointer {
  const { name, database, tables, serde = jsonSerde, close, fence } = options

  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace = '', checkpointId } = addressOf(config)
    return threadId === undefined ? undefined : tables.load(serde, { threadId, namespace, checkpointId })
  }

  return {
    [DATABASE]: database,
    serde,
    getTuple,
    async get(config) {
      return (await getTuple(config))?.checkpoint
    },
    list: (config, listOptions) => tables.list(serde, config, listOptions),
    async put(config, checkpoint, metadata, newVersions) {
      const { threadId, namespace = '', checkpointId: parentId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      const place = { threadId, namespace, parentId, checkpoint, metadata }
      const isChanged = (channel: string) => Object.hasOwn(newVersions, channel)
      const ambiguous = await tables.put(serde, fence, { ...place, isNew: isChanged, latest: false })
      if (ambiguous.length > 0) {
        const given = new Set(
          ambiguous.filter((channel) => Object.hasOwn(checkpoint.channel_values, channel)),
        )
        const isNew = (channel: string) => isChanged(channel) || given.has(channel)
        await tables.put(serde, fence, { ...place, isNew, latest: true })
      }
      return configOf(threadId, namespace, checkpoint.id)
    },
    async putWrites(config, writes, taskId) {
      const { threadId, namespace = '', checkpointId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      if (checkpointId === undefined) throw missing('checkpoint_id')
      await tables.putWrites(serde, fence, { threadId, namespace, checkpointId, taskId, writes })
    },
    deleteThread: (threadId) => tables.deleteThread(threadId),
    getNextVersion: nextVersion,
    async getDeltaChannelHistory({ config, channels }) {
      const { threadId, namespace = '', checkpointId } = addressOf(config)
      const at = threadId === undefined ? undefined : { threadId, namespace, checkpointId }
      return collectHistory(channels, at ? tables.ancestors(serde, at, channels) : nobody())
    },
    setup: () => database.setup(),
    end: close,
    withFence: (partition, token) => createSaver({ ...options, fence: { partition, token } }),
    ...(options.serde === undefined && {
      withSerde: (chosen: Serde) => createSaver({ ...options, serde: chosen }),
    }),
    toJSON: () => `[${name}]`,
  }
}

async function* nobody(): AsyncGenerator<Ancestor> {}
