import type { SavedAt } from '../../checkpointer/config.ts'
import type { CheckpointTables, Fence, StoredAncestor } from '../../checkpointer/durable-saver.ts'
import type { StoredCheckpoint } from '../../checkpointer/stored-checkpoint.ts'
import { type CheckpointSchema, checkpointPages } from '../../sql/checkpoints.ts'
import { checkFence, fencedError } from '../../store/commit.ts'
import { fromText, toText } from '../../text.ts'
import type { Connection, Row } from '../connection.ts'
import type { Database } from '../database.ts'
import { loadPartition } from '../store/documents.ts'
import {
  hasParent,
  keepOnly,
  loadAncestor,
  loadCheckpoint,
  loadValue,
  metadataOf,
  placeOf,
  putCheckpoint,
  putWrites,
} from './checkpoints.ts'

export function createTables(database: Database): CheckpointTables {
  const { read, snapshot } = database
  const schema: CheckpointSchema<Row> = {
    columns: [],
    metadataColumns: ['metadata_type', 'metadata'],
    nameOf: toText,
    all: ({ text, values }) => read(({ all }) => all(text, ...values)),
    toListed: (row) => ({
      ...placeOf(row),
      metadata: row.metadata === undefined ? undefined : metadataOf(row),
    }),
  }

  function write<T>(fence: Fence | undefined, work: (connection: Connection) => T): Promise<T> {
    return database.write((connection) => {
      if (fence) {
        const { lease } = loadPartition(connection, fence.partition)
        checkFence(fence.partition, fence.token, lease, Date.now())
      }
      return work(connection)
    })
  }

  return {
    async load(addresses) {
      const found: StoredCheckpoint[] = []
      for (const at of addresses) {
        const stored = await snapshot((connection) => loadCheckpoint(connection, at))
        if (stored) found.push(stored)
      }
      return found
    },
    pages: (scope, size, withMetadata) => checkpointPages(schema, scope, size, withMetadata),
    put: (fence, checkpoint, latest) =>
      write(fence, (connection) => {
        if (fence && !hasParent(connection, checkpoint)) throw fencedError(fence.partition)
        return putCheckpoint(connection, checkpoint, latest)
      }),
    putWrites: (fence, writes) => write(fence, (connection) => putWrites(connection, writes)),
    deleteThread: (fence, threadId) =>
      write(fence, ({ run }) => {
        for (const table of ['{writes}', '{channel_values}', '{checkpoints}'])
          run(`DELETE FROM ${table} WHERE thread_id = ?`, toText(threadId))
      }),
    keepOnly: (fence, threadId, remainders) =>
      write(fence, (connection) => keepOnly(connection, threadId, remainders)),
    async line(at) {
      const ancestor = await ancestorAt(database, at)
      return ancestor ? [ancestor] : []
    },
  }
}

async function ancestorAt({ read, snapshot }: Database, at: SavedAt): Promise<StoredAncestor | undefined> {
  const found = await snapshot((connection) => loadAncestor(connection, at))
  if (!found) return undefined
  const { head, ids, writes } = found
  const parent = head.parent_id as string | null
  return {
    checkpointId: placeOf(head).checkpointId,
    parentId: parent === null ? undefined : fromText(parent),
    writes,
    async value(channel) {
      const id = ids.get(channel) ?? null
      return id === null ? undefined : read((connection) => loadValue(connection, id))
    },
  }
}
