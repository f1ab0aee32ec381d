import { addressOf, configOf, missing, nextVersion } from '../checkpoint-config.ts'
import type { CheckpointConfig, CheckpointTuple } from '../checkpointer.ts'
import { checkFence } from '../commit.ts'
import { DATABASE } from '../fenced.ts'
import type { MemoryCheckpointer } from '../memory-checkpointer.ts'
import { jsonSerde, type Serde } from '../serde.ts'
import { encodeCheckpoint, encodeWrites, putCheckpoint, putWrites } from './checkpoint-rows.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { loadDeltaHistory } from './history.ts'
import { listTuples } from './list-tuples.ts'
import { loadPartition } from './partitions.ts'
import { toText } from './text.ts'
import { loadCheckpoint, toTuple } from './tuples.ts'

/** A `Checkpointer` with all of LangGraph's `BaseCheckpointSaver`: fit for `graph.compile({ checkpointer })`. */
export interface SqliteCheckpointer extends MemoryCheckpointer {
  readonly [DATABASE]: object
  setup(): Promise<void>
  end(): Promise<void>
  withFence(partition: string, token: number): SqliteCheckpointer
  withSerde?(serde: Serde): SqliteCheckpointer
}

export interface CheckpointerOptions {
  readonly database: Database
  /** Undefined: `jsonSerde`, until a view is given another. */
  readonly serde: Serde | undefined
  readonly close: () => Promise<void>
  /** The lease under which a view writes. */
  readonly fence?: { readonly partition: string; readonly token: number } | undefined
}

export function createCheckpointer(options: CheckpointerOptions): SqliteCheckpointer {
  const { database, serde = jsonSerde, close, fence } = options
  const { of } = database

  function write<T>(work: (connection: Connection) => T): Promise<T> {
    return database.write((connection) => {
      if (fence) {
        const { lease } = loadPartition(connection, of('partitions'), fence.partition)
        checkFence(fence.partition, fence.token, lease, Date.now())
      }
      return work(connection)
    })
  }

  async function getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace = '', checkpointId } = addressOf(config)
    if (threadId === undefined) return undefined
    const id = checkpointId === undefined ? undefined : toText(checkpointId)
    const rows = await database.snapshot((connection) =>
      loadCheckpoint(connection, of, toText(threadId), toText(namespace), id),
    )
    return rows && toTuple(serde, rows)
  }

  return {
    [DATABASE]: database,
    serde,
    getTuple,
    async get(config) {
      return (await getTuple(config))?.checkpoint
    },
    list: (config, listOptions) => listTuples(database, serde, config, listOptions),
    async put(config, checkpoint, metadata, newVersions) {
      const { threadId, namespace = '', checkpointId: parentId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      const address = [toText(threadId), toText(namespace), toText(checkpoint.id)] as const
      const parent = parentId === undefined ? null : toText(parentId)
      const send = async (isNew: (channel: string) => boolean, latest: boolean) => {
        const encoded = await encodeCheckpoint(serde, checkpoint, metadata, isNew)
        return write((connection) => putCheckpoint(connection, of, { address, parent, ...encoded }, latest))
      }
      const isChanged = (channel: string) => Object.hasOwn(newVersions, channel)
      const ambiguous = await send(isChanged, false)
      if (ambiguous.length > 0) {
        const given = ambiguous.filter((channel) => Object.hasOwn(checkpoint.channel_values, channel))
        await send((channel) => isChanged(channel) || given.includes(channel), true)
      }
      return configOf(threadId, namespace, checkpoint.id)
    },
    async putWrites(config, writes, taskId) {
      const { threadId, namespace = '', checkpointId } = addressOf(config)
      if (threadId === undefined) throw missing('thread_id')
      if (checkpointId === undefined) throw missing('checkpoint_id')
      const address = [toText(threadId), toText(namespace), toText(checkpointId)] as const
      const encoded = await encodeWrites(serde, writes)
      await write((connection) => putWrites(connection, of, address, toText(taskId), encoded))
    },
    async deleteThread(threadId) {
      const thread = toText(threadId)
      await write(({ run }) => {
        for (const table of ['writes', 'channel_values', 'checkpoints']) {
          run(`DELETE FROM ${of(table)} WHERE thread_id = ?`, thread)
        }
      })
    },
    getNextVersion: nextVersion,
    async getDeltaChannelHistory({ config, channels }) {
      const { threadId, namespace = '', checkpointId } = addressOf(config)
      if (threadId === undefined)
        return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
      const id = checkpointId === undefined ? undefined : toText(checkpointId)
      return loadDeltaHistory(database, serde, toText(threadId), toText(namespace), id, channels)
    },
    setup: () => database.setup(),
    end: close,
    withFence: (partition, token) => createCheckpointer({ ...options, fence: { partition, token } }),
    ...(options.serde === undefined && {
      withSerde: (chosen: Serde) => createCheckpointer({ ...options, serde: chosen }),
    }),
    toJSON: () => '[sqliteCheckpointer]',
  }
}
