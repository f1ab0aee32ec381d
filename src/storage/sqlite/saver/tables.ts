import { listTuples } from '../../checkpointer/list-tuples.ts'
import type { Fence, SavedAt, SaverTables } from '../../checkpointer/saver.ts'
import { checkFence } from '../../store/commit.ts'
import { toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import type { Database } from '../database.ts'
import { loadPartition } from '../store/partitions.ts'
import { encodeCheckpoint, encodeWrites, putCheckpoint, putWrites } from './checkpoint-rows.ts'
import { ancestorsOf } from './history.ts'
import { rowsOf } from './list-tuples.ts'
import { loadCheckpoint, toTuple } from './tuples.ts'

export function createTables(database: Database): SaverTables {
  const { of } = database

  function write<T>(fence: Fence | undefined, work: (connection: Connection) => T): Promise<T> {
    return database.write((connection) => {
      if (fence) {
        const { lease } = loadPartition(connection, of('partitions'), fence.partition)
        checkFence(fence.partition, fence.token, lease, Date.now())
      }
      return work(connection)
    })
  }

  return {
    async load(serde, at) {
      const rows = await database.snapshot((connection) => loadCheckpoint(connection, of, ...textsOf(at)))
      return rows && toTuple(serde, rows)
    },
    list: (serde, config, options) => listTuples(rowsOf(database, serde), config, options),
    async put(serde, fence, { threadId, namespace, parentId, checkpoint, metadata, isNew, latest }) {
      const address = [toText(threadId), toText(namespace), toText(checkpoint.id)] as const
      const parent = parentId === undefined ? null : toText(parentId)
      const encoded = await encodeCheckpoint(serde, checkpoint, metadata, isNew)
      return write(fence, (connection) =>
        putCheckpoint(connection, of, { address, parent, ...encoded }, latest),
      )
    },
    async putWrites(serde, fence, { threadId, namespace, checkpointId, taskId, writes }) {
      const address = [toText(threadId), toText(namespace), toText(checkpointId)] as const
      const encoded = await encodeWrites(serde, writes)
      await write(fence, (connection) => putWrites(connection, of, address, toText(taskId), encoded))
    },
    async deleteThread(threadId) {
      const thread = toText(threadId)
      await database.write(({ run }) => {
        for (const table of ['writes', 'channel_values', 'checkpoints']) {
          run(`DELETE FROM ${of(table)} WHERE thread_id = ?`, thread)
        }
      })
    },
    ancestors: (serde, at, channels) => ancestorsOf(database, serde, ...textsOf(at), channels),
  }
}

function textsOf({ threadId, namespace, checkpointId }: SavedAt) {
  const checkpoint = checkpointId === undefined ? undefined : toText(checkpointId)
  return [toText(threadId), toText(namespace), checkpoint] as const
}
