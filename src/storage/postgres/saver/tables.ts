import type { SavedAt } from '../../checkpointer/config.ts'
import type { CheckpointTables, Fence } from '../../checkpointer/durable-saver.ts'
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
      values: [...fenceValues(fence), ...values],
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
    async deleteThread(fence, threadId) {
      const [c, v, w] = ['checkpoints', 'channel_values', 'writes'].map(
        (table) => `DELETE FROM ${of(table)} USING fence WHERE holds AND thread_id = $3`,
      )
      const [row] = await database.run({
        text: `WITH ${fenceText(of)}, c AS (${c}), v AS (${v}), w AS (${w}) SELECT holds FROM fence`,
        values: [...fenceValues(fence), keyOf(threadId)],
        mutates: true,
      })
      if (row!.holds !== 't') throw fencedError(fence!.partition)
    },
    async keepOnly(fence, threadId, remainders) {
      const [row] = await database.run({
        text: keepOnlyText(of),
        values: [
          ...[...fenceValues(fence), keyOf(threadId)],
          JSON.stringify(
            remainders.map(({ namespace, newest, checkpointIds }) => [
              ...[keyOf(namespace), keyOf(newest), checkpointIds.map(keyOf)],
            ]),
          ),
        ],
        mutates: true,
      })
      if (row!.holds !== 't') throw fencedError(fence!.partition)
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
          const [key, parent, names, cells] = JSON.parse(about!) as About
          const [, , checkpointId] = readNames(names, thread!, namespace!, key)
          from = line.length === PAGE ? parent : null
          if (!isItself) {
            yield {
              checkpointId,
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

/** Of an ancestor. */
type About = [checkpoint: string, parent: string | null, names: string | null, cells: Cells]

/** Null stands for the newest checkpoint of the namespace. */
function keysOf({ threadId, namespace, checkpointId }: SavedAt): readonly (string | null)[] {
  return [keyOf(threadId), keyOf(namespace), checkpointId === undefined ? null : keyOf(checkpointId)]
}

const fenceValues = (fence: Fence | undefined) => [
  fence ? keyOf(fence.partition) : null,
  fence?.token ?? null,
]

/** Whether the lease is held, or none is asked for. */
const fenceText = (of: (name: string) => string): string => `fence AS MATERIALIZED (
      SELECT $1::text IS NULL OR ${of('held')}($1, $2) AS holds
    )`

/**
 * What the namespaces had when the statement began decides what is deleted: `asked` has those without a newer
 * checkpoint.
 */
function keepOnlyText(of: (name: string) => string): string {
  return `WITH ${fenceText(of)}, asked AS MATERIALIZED (
      SELECT item->>0 AS namespace, item->>1 AS newest, item->2 AS staying
      FROM fence, jsonb_array_elements($4::jsonb) AS item
      WHERE holds AND item->>1 = ${newestId(of('checkpoints'), '$3', 'item->>0')}
    ), used AS MATERIALIZED (
      SELECT DISTINCT (cell->>1)::bigint AS id
      FROM asked JOIN ${of('checkpoints')} AS c ON c.thread_id = $3 AND c.namespace = asked.namespace
        AND asked.staying ? c.checkpoint_id,
        jsonb_each(c.cells) AS cells(channel, cell)
      WHERE cell->>1 IS NOT NULL
    ), checkpoints_gone AS (
      DELETE FROM ${of('checkpoints')} AS c USING asked
      WHERE c.thread_id = $3 AND c.namespace = asked.namespace AND NOT asked.staying ? c.checkpoint_id
    ), values_gone AS (
      DELETE FROM ${of('channel_values')} AS v USING asked
      WHERE v.thread_id = $3 AND v.namespace = asked.namespace AND v.id NOT IN (SELECT id FROM used)
    ), writes_gone AS (
      -- Writes may come before their checkpoint.
      DELETE FROM ${of('writes')} AS w USING asked
      WHERE w.thread_id = $3 AND w.namespace = asked.namespace
        AND NOT asked.staying ? w.checkpoint_id AND (w.checkpoint_id <= asked.newest OR EXISTS (
          SELECT FROM ${of('checkpoints')} AS c
          WHERE c.thread_id = $3 AND c.namespace = w.namespace AND c.checkpoint_id = w.checkpoint_id
        ))
    )
    SELECT holds FROM fence`
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
    SELECT 'checkpoint' AS kind, depth, jsonb_build_array(checkpoint_id, parent_id, names, cells)::text AS about, NULL AS type, NULL AS data
    FROM line
    UNION ALL
    SELECT 'write', depth, ${aboutWrite('w')}, w.type, encode(data, 'hex')
    FROM line CROSS JOIN LATERAL (
      SELECT * FROM ${of('writes')}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = line.checkpoint_id AND channel = ANY ($5::text[])
      OFFSET 0
    ) AS w`
}
