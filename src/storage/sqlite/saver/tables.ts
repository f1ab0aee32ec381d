import type { SavedAt } from '../../checkpointer/config.ts'
import type { CheckpointTables, Fence } from '../../checkpointer/durable-saver.ts'
import type { StoredCheckpoint } from '../../checkpointer/stored.ts'
import { type CheckpointSchema, checkpointPages } from '../../sql/checkpoints.ts'
import { checkFence } from '../../store/commit.ts'
import { fromText, toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import type { Database } from '../database.ts'
import type { Row } from '../driver.ts'
import { loadPartition } from '../store/partitions.ts'
import {
  type Address,
  findCheckpoint,
  keepOnly,
  loadCheckpoint,
  loadWrites,
  metadataOf,
  putCheckpoint,
  putWrites,
  readCells,
  toStored,
} from './checkpoints.ts'

export function createTables(database: Database): CheckpointTables {
  const { of, read, snapshot } = database
  const schema: CheckpointSchema<Row> = {
    checkpoints: of('checkpoints'),
    columns: [],
    metadataColumns: ['metadata_type', 'metadata'],
    nameOf: toText,
    all: ({ text, values }) => read(({ all }) => all(text, ...values)),
    toListed: (row) => ({
      threadId: fromText(row.thread_id as string),
      namespace: fromText(row.namespace as string),
      checkpointId: fromText(row.checkpoint_id as string),
      metadata: row.metadata === undefined ? undefined : metadataOf(row),
    }),
  }

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
    async load(addresses) {
      const found: StoredCheckpoint[] = []
      for (const at of addresses) {
        const stored = await snapshot((connection) => loadCheckpoint(connection, of, addressAt(at)))
        if (stored) found.push(stored)
      }
      return found
    },
    async loadWrites({ threadId, namespace, checkpointId }, channel) {
      const address = [threadId, namespace, checkpointId].map(toText)
      const writes = await read((connection) => loadWrites(connection, of, address))
      return writes.filter((write) => write.channel === channel)
    },
    pages: (scope, size, withMetadata) => checkpointPages(schema, scope, size, withMetadata),
    put: (fence, checkpoint, latest) =>
      write(fence, (connection) => putCheckpoint(connection, of, checkpoint, latest)),
    putWrites: (fence, writes) => write(fence, (connection) => putWrites(connection, of, writes)),
    deleteThread: (fence, threadId) =>
      write(fence, ({ run }) => {
        for (const table of ['writes', 'channel_values', 'checkpoints'])
          run(`DELETE FROM ${of(table)} WHERE thread_id = ?`, toText(threadId))
      }),
    keepOnly: (fence, threadId, remainders) =>
      write(fence, (connection) => keepOnly(connection, of, threadId, remainders)),
    async *ancestors(at) {
      const [thread, namespace] = addressAt(at)
      const itself = await read((connection) => findCheckpoint(connection, of, 'parent_id', addressAt(at)))
      let parent = (itself?.parent_id ?? null) as string | null
      while (parent !== null) {
        const address = [thread, namespace, parent] as const
        const found = await snapshot((connection) => {
          const head = findCheckpoint(connection, of, 'parent_id, cells', address)
          return head && { head, writes: loadWrites(connection, of, address) }
        })
        if (!found) return
        const ids = new Map(readCells(found.head).map(([channel, , id]) => [channel, id]))
        yield {
          checkpointId: fromText(parent),
          writes: found.writes,
          async value(channel) {
            const id = ids.get(channel) ?? null
            if (id === null) return undefined
            const sql = `SELECT type, data FROM ${of('channel_values')} WHERE id = ?`
            const row = await read(({ get }) => get(sql, id))
            return row && toStored(row)
          },
        }
        parent = found.head.parent_id as string | null
      }
    },
  }
}

function addressAt({ threadId, namespace, checkpointId }: SavedAt): Address {
  const checkpoint = checkpointId === undefined ? undefined : toText(checkpointId)
  return [toText(threadId), toText(namespace), checkpoint]
}
