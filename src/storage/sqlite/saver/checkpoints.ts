import type { SavedAt } from '../../checkpointer/config.ts'
import { sortKeyBehind } from '../../checkpointer/list-tuples.ts'
import type { Remainder } from '../../checkpointer/newest-checkpoint.ts'
import type {
  CheckpointToStore,
  Stored,
  StoredCheckpoint,
  StoredWrite,
  WritesToStore,
} from '../../checkpointer/stored-checkpoint.ts'
import { newestId } from '../../sql/checkpoints.ts'
import { fromText, toText } from '../../text.ts'
import { bytesOf, type Connection, type Row } from '../connection.ts'

/** A checkpoint's channel: the version, and the `channel_values` row of its value, if any. */
type Cell = readonly [channel: string, version: string, id: number | null]

/** Names are encoded by `toText`. Without a checkpoint: the newest of the namespace. */
type Address = readonly [thread: string, namespace: string, checkpoint: string | undefined]

/**
 * Unchanged values are found in the parent if it has the version, otherwise anywhere in the namespace. See
 * `CheckpointTables.put`.
 */
export function putCheckpoint(
  connection: Connection,
  { threadId, namespace, checkpointId, parentId, body, metadata, changed, carried }: CheckpointToStore,
  latest: boolean,
): string[] {
  const { get, all, run } = connection
  const [thread, name] = [toText(threadId), toText(namespace)]
  const parent = parentId === undefined ? undefined : toText(parentId)
  const before =
    parent === undefined || carried.length === 0
      ? undefined
      : findCheckpoint(connection, 'cells', [thread, name, parent])
  const beforeByChannel = new Map(readCells(before).map((cell) => [cell[0], cell]))
  const ambiguous: string[] = []
  const cells = carried.map(({ channel, version }): Cell => {
    const cell = beforeByChannel.get(channel)
    if (cell?.[1] === version) return cell
    const candidates = all(
      `SELECT id FROM {channel_values} WHERE thread_id = ? AND namespace = ? AND channel = ? AND version = ?
        ORDER BY id DESC LIMIT 2`,
      ...[thread, name, toText(channel), version],
    )
    if (candidates.length > 1 && !latest) ambiguous.push(channel)
    return [channel, version, candidates.length === 0 ? null : Number(candidates[0]!.id)]
  })
  if (ambiguous.length > 0) return ambiguous
  for (const { channel, version, value } of changed) {
    const row =
      value &&
      get(
        `INSERT INTO {channel_values} (thread_id, namespace, channel, version, type, data)
          VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
        ...[thread, name, toText(channel), version, value.type, value.data],
      )
    cells.push([channel, version, row ? Number(row.id) : null])
  }
  const newest = findCheckpoint(connection, 'checkpoint_id, sort_key', [thread, name, undefined])
  const last = newest && {
    checkpointId: newest.checkpoint_id as string,
    sortKey: (newest.sort_key ?? undefined) as string | undefined,
  }
  const id = toText(checkpointId)
  run(
    `INSERT INTO {checkpoints}
      (thread_id, namespace, checkpoint_id, sort_key, parent_id, cells, metadata_type, metadata, body_type, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (thread_id, namespace, checkpoint_id) DO UPDATE SET
        parent_id = excluded.parent_id, cells = excluded.cells, metadata_type = excluded.metadata_type,
        metadata = excluded.metadata, body_type = excluded.body_type, body = excluded.body`,
    ...[thread, name, id, sortKeyBehind(last, id) ?? null],
    ...[parent ?? null, JSON.stringify(cells), metadata.type, metadata.data, body.type, body.data],
  )
  return []
}

/** Whether the parent is there, or the checkpoint itself, which may be put again. */
export function hasParent(
  connection: Connection,
  { threadId, namespace, checkpointId, parentId }: CheckpointToStore,
): boolean {
  if (parentId === undefined) return true
  return [parentId, checkpointId].some(
    (checkpoint) =>
      findCheckpoint(
        connection,
        'checkpoint_id',
        addressOf({ threadId, namespace, checkpointId: checkpoint }),
      ) !== undefined,
  )
}

/** Writes with an index of 0 or more keep their first value; for the others, the last one counts. */
export function putWrites(
  { run }: Connection,
  { threadId, namespace, checkpointId, taskId, writes }: WritesToStore,
): void {
  const address = [threadId, namespace, checkpointId, taskId].map(toText)
  for (const { channel, place, type, data } of writes) {
    run(
      `INSERT OR ${place < 0 ? 'REPLACE' : 'IGNORE'} INTO {writes}
        (thread_id, namespace, checkpoint_id, task_id, place, channel, type, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[...address, place, toText(channel), type, data],
    )
  }
}

/** See `CheckpointTables.keepOnly`. */
export function keepOnly(connection: Connection, threadId: string, remainders: readonly Remainder[]): void {
  for (const { namespace, newest, checkpointIds } of remainders) {
    const [thread, name, last] = [threadId, namespace, newest].map(toText) as [string, string, string]
    const found = findCheckpoint(connection, 'checkpoint_id', [thread, name, undefined])
    if (found?.checkpoint_id !== last) continue
    const staying = JSON.stringify(checkpointIds.map(toText))
    // Writes may arrive before their checkpoint.
    connection.run(
      `DELETE FROM {writes} WHERE thread_id = ? AND namespace = ?
        AND (checkpoint_id <= ? OR checkpoint_id IN (
          SELECT checkpoint_id FROM {checkpoints} WHERE thread_id = ? AND namespace = ?
        )) AND checkpoint_id NOT IN (SELECT value FROM json_each(?))`,
      ...[thread, name, last, thread, name, staying],
    )
    connection.run(
      `DELETE FROM {checkpoints}
        WHERE thread_id = ? AND namespace = ? AND checkpoint_id NOT IN (SELECT value FROM json_each(?))`,
      ...[thread, name, staying],
    )
    connection.run(
      `WITH cells AS (
          SELECT json_extract(cell.value, '$[2]') AS id FROM {checkpoints} AS c, json_each(c.cells) AS cell
          WHERE c.thread_id = ? AND c.namespace = ?
        )
        DELETE FROM {channel_values} WHERE thread_id = ? AND namespace = ?
          AND id NOT IN (SELECT id FROM cells WHERE id IS NOT NULL)`,
      ...[thread, name, thread, name],
    )
  }
}

export function loadCheckpoint(connection: Connection, at: SavedAt): StoredCheckpoint | undefined {
  const head = findCheckpoint(connection, '*', addressOf(at))
  if (!head) return undefined
  const ids = idsOf(head)
  const rows = connection.all(
    `SELECT v.id, v.type, v.data FROM json_each(?) AS wanted JOIN {channel_values} AS v ON v.id = wanted.value`,
    JSON.stringify([...ids.values()].filter((id) => id !== null)),
  )
  const values = new Map(rows.map((row) => [Number(row.id), row]))
  return {
    ...placeOf(head),
    parentId: head.parent_id === null ? undefined : fromText(head.parent_id as string),
    body: toStored({ type: head.body_type!, data: head.body! }),
    metadata: metadataOf(head),
    value(channel) {
      const row = values.get(ids.get(channel) ?? -1)
      return row && toStored(row)
    },
    writes: loadWrites(connection, head),
  }
}

/** A checkpoint with the numbers of its values and with its writes. */
export function loadAncestor(connection: Connection, at: SavedAt) {
  const columns = 'thread_id, namespace, checkpoint_id, parent_id, cells'
  const head = findCheckpoint(connection, columns, addressOf(at))
  return head && { head, ids: idsOf(head), writes: loadWrites(connection, head) }
}

export function loadValue({ get }: Connection, id: number): Stored | undefined {
  const row = get('SELECT type, data FROM {channel_values} WHERE id = ?', id)
  return row && toStored(row)
}

const addressOf = ({ threadId, namespace, checkpointId }: SavedAt): Address => [
  toText(threadId),
  toText(namespace),
  checkpointId === undefined ? undefined : toText(checkpointId),
]

function findCheckpoint(
  { get }: Connection,
  columns: string,
  [thread, namespace, checkpoint]: Address,
): Row | undefined {
  const id = checkpoint === undefined ? newestId('?', '?') : '?'
  return get(
    `SELECT ${columns} FROM {checkpoints} WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ${id}`,
    ...[thread, namespace, ...(checkpoint === undefined ? [thread, namespace] : [checkpoint])],
  )
}

/** By the address in a checkpoint's row. */
function loadWrites({ all }: Connection, { thread_id, namespace, checkpoint_id }: Row): StoredWrite[] {
  const rows = all(
    `SELECT task_id, place, channel, type, data FROM {writes}
      WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ?`,
    ...[thread_id!, namespace!, checkpoint_id!],
  )
  return rows.map((row) => ({
    taskId: fromText(row.task_id as string),
    place: Number(row.place),
    channel: fromText(row.channel as string),
    ...toStored(row),
  }))
}

/** From a row with `thread_id`, `namespace` and `checkpoint_id`. */
export const placeOf = (row: Row) => ({
  threadId: fromText(row.thread_id as string),
  namespace: fromText(row.namespace as string),
  checkpointId: fromText(row.checkpoint_id as string),
})

/** From a row with `cells`. */
const readCells = (row: Row | undefined): Cell[] => (row ? (JSON.parse(row.cells as string) as Cell[]) : [])

const idsOf = (row: Row) => new Map(readCells(row).map(([channel, , id]) => [channel, id]))

/** From a row with `metadata_type` and `metadata`. */
export const metadataOf = (row: Row): Stored => toStored({ type: row.metadata_type!, data: row.metadata! })

/** From a row with `type` and `data`. */
const toStored = ({ type, data }: Row): Stored => ({ type: type as string, data: bytesOf(data) })
