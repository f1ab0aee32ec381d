import type { CheckpointTables, Fence } from '../../checkpointer/durable-saver.ts'
import type { SavedAt } from '../../checkpointer/saver.ts'
import { type CheckpointSchema, checkpointPages, newestId } from '../../sql/checkpoints.ts'
import { fencedError } from '../../store/commit.ts'
import { type Database, numbered, type Row, readNumbers } from '../database.ts'
import { keyOf, readNames, toText } from '../text.ts'
import {
  type Cells,
  putParameters,
  readCheckpoints,
  readWrite,
  toStored,
  writesParameters,
} from './checkpoints.ts'
import { aboutWrite } from './sql-checkpoints.ts'

/** Ancestors that are read at once. */
const PAGE = 100

export function createTables(database: Database): CheckpointTables {
  const { of } = database.names
  const schema: CheckpointSchema<Row> = {
    checkpoints: of('checkpoints'),
    columns: ['names'],
    metadataColumns: ['metadata_type', `encode(metadata, 'hex') AS metadata`],
    nameOf: keyOf,
    all: (statement) => database.run(numbered(statement)),
    toListed({ names, thread_id, namespace, checkpoint_id, metadata_type, metadata }) {
      const [threadId, name, checkpointId] = readNames(names!, thread_id!, namespace!, checkpoint_id!)
      const stored = metadata === undefined ? undefined : toStored(metadata_type!, metadata!)
      return { threadId, namespace: name, checkpointId, metadata: stored }
    },
  }

  /** Calls a function that checks the fence first. */
  async function write(fence: Fence | undefined, call: string, values: readonly unknown[]): Promise<Row> {
    const places = values.map((_, i) => `$${i + 3}`)
    const [row] = await database.run({
      text: `SELECT * FROM ${of(call)}($1, $2, ${places})`,
      values: [fence ? keyOf(fence.partition) : null, fence?.token ?? null, ...values],
      mutates: true,
    })
    if (row!.fenced === 't') throw fencedError(fence!.partition)
    return row!
  }

  async function loadValue(id: number | null | undefined) {
    if (id === null || id === undefined) return undefined
    const [row] = await database.run({
      text: `SELECT type, encode(data, 'hex') AS data FROM ${of('channel_values')} WHERE id = $1`,
      values: [id],
    })
    return row && toStored(row.type!, row.data!)
  }

  return {
    async load(addresses) {
      const rows = await database.run({
        text: `SELECT kind, at, about, type, data, metadata FROM ${of('load')}($1)`,
        values: [JSON.stringify(addresses.map(keysOf))],
      })
      return readCheckpoints(rows)
    },
    async loadWrites({ threadId, namespace, checkpointId }, channel) {
      const rows = await database.run({
        text: `SELECT ${aboutWrite('w')} AS about, type, encode(data, 'hex') AS data FROM ${of('writes')} AS w
          WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = $3 AND channel = $4`,
        values: [keyOf(threadId), keyOf(namespace), keyOf(checkpointId), toText(channel)],
      })
      return rows.map(readWrite)
    },
    pages: (scope, size, withMetadata) => checkpointPages(schema, scope, size, withMetadata),
    async put(fence, checkpoint, latest) {
      const row = await write(fence, 'put_checkpoint', putParameters(checkpoint, latest))
      return readNumbers(row.ambiguous!).map((place) => checkpoint.carried[place]!.channel)
    },
    async putWrites(fence, writes) {
      await write(fence, 'put_writes', writesParameters(writes))
    },
    async deleteThread(threadId) {
      const [checkpoints, values, writes] = ['checkpoints', 'channel_values', 'writes'].map(of)
      await database.run({
        text: `WITH c AS (DELETE FROM ${checkpoints} WHERE thread_id = $1),
            v AS (DELETE FROM ${values} WHERE thread_id = $1)
          DELETE FROM ${writes} WHERE thread_id = $1`,
        values: [keyOf(threadId)],
        mutates: true,
      })
    },
    async *ancestors(at, channels) {
      const [thread, namespace, checkpoint] = keysOf(at)
      let from: string | null | undefined = checkpoint
      let isItself = true
      do {
        const rows = await database.run({
          text: ancestorsText(of),
          values: [thread, namespace, from, PAGE, channels.map(toText)],
        })
        const line = rows
          .filter(({ kind }) => kind === 'checkpoint')
          .sort((a, b) => Number(a.depth) - Number(b.depth))
        from = null
        for (const { depth, about } of line) {
          const [parent, cells] = JSON.parse(about!) as [string | null, Cells]
          from = line.length === PAGE ? parent : null
          if (!isItself) {
            yield {
              writes: rows.filter((row) => row.kind === 'write' && row.depth === depth).map(readWrite),
              value: (channel) => loadValue(cells[keyOf(channel)]?.[1]),
            }
          }
          isItself = false
        }
      } while (from !== null)
    },
  }
}

/** Null stands for the newest checkpoint of the namespace. */
function keysOf({ threadId, namespace, checkpointId }: SavedAt): readonly (string | null)[] {
  return [keyOf(threadId), keyOf(namespace), checkpointId === undefined ? null : keyOf(checkpointId)]
}

function ancestorsText(of: (name: string) => string): string {
  return `WITH RECURSIVE line AS (
      SELECT 1 AS depth, * FROM ${of('checkpoints')}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = coalesce($3, ${newestId(of('checkpoints'), '$1', '$2')})
      UNION ALL
      SELECT line.depth + 1, c.* FROM line CROSS JOIN LATERAL (
        SELECT * FROM ${of('checkpoints')}
        WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = line.parent_id
        OFFSET 0
      ) AS c
      WHERE line.depth < $4
    )
    SELECT 'checkpoint' AS kind, depth, jsonb_build_array(parent_id, cells)::text AS about, NULL AS type, NULL AS data
    FROM line
    UNION ALL
    SELECT 'write', depth, ${aboutWrite('w')}, w.type, encode(data, 'hex')
    FROM line CROSS JOIN LATERAL (
      SELECT * FROM ${of('writes')}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = line.checkpoint_id AND channel = ANY ($5::text[])
      OFFSET 0
    ) AS w`
}
