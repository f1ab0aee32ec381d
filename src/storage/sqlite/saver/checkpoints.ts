import { type Sorted, sortKeyBehind } from '../../checkpointer/list-tuples.ts'
import type { Remainder } from '../../checkpointer/newest.ts'
import type {
  CheckpointToStore,
  Stored,
  StoredCheckpoint,
  StoredWrite,
  WritesToStore,
} from '../../checkpointer/stored.ts'
import { newestId } from '../../sql/checkpoints.ts'
import { fromText, toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import { bytesOf, type Row } from '../driver.ts'

type Of = (table: string) => string

/** What a checkpoint says of a channel: its version, and the row of `channel_values` with its value, if it has one. */
type Cell = readonly [channel: string, version: string, id: number | null]

/** Thread, namespace and checkpoint, as `toText` gives them. Without a checkpoint: the newest of the namespace. */
export type Address = readonly [thread: string, namespace: string, checkpoint: string | undefined]

/**
 * Runs in a transaction. Values that did not change are found with the parent where that has the version, else anywhere in the
 * namespace. See `CheckpointTables.put`.
 */
export function putCheckpoint(
  connection: Connection,
  of: Of,
  { threadId, namespace, checkpointId, parentId, body, metadata, changed, carried }: CheckpointToStore,
  latest: boolean,
): string[] {
  const { get, all, run } = connection
  const [thread, name] = [toText(threadId), toText(namespace)]
  const parent = parentId === undefined ? undefined : toText(parentId)
  const values = of('channel_values')
  const before =
    parent === undefined || carried.length === 0
      ? undefined
      : findCheckpoint(connection, of, 'cells', [thread, name, parent])
  const beforeByChannel = new Map(readCells(before).map((cell) => [cell[0], cell]))
  const ambiguous: string[] = []
  const cells = carried.map(({ channel, version }): Cell => {
    const cell = beforeByChannel.get(channel)
    if (cell?.[1] === version) return cell
    const candidates = all(
      `SELECT id FROM ${values} WHERE thread_id = ? AND namespace = ? AND channel = ? AND version = ? ORDER BY id DESC LIMIT 2`,
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
        `INSERT INTO ${values} (thread_id, namespace, channel, version, type, data) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
        ...[thread, name, toText(channel), version, value.type, value.data],
      )
    cells.push([channel, version, row ? Number(row.id) : null])
  }
  const newest = findCheckpoint(connection, of, 'checkpoint_id, sort_key', [thread, name, undefined])
  const id = toText(checkpointId)
  run(
    `INSERT INTO ${of('checkpoints')}
      (thread_id, namespace, checkpoint_id, sort_key, parent_id, cells, metadata_type, metadata, body_type, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (thread_id, namespace, checkpoint_id) DO UPDATE SET
        parent_id = excluded.parent_id, cells = excluded.cells, metadata_type = excluded.metadata_type,
        metadata = excluded.metadata, body_type = excluded.body_type, body = excluded.body`,
    ...[thread, name, id, sortKeyBehind(newest && sortedOf(newest), id) ?? null],
    ...[parent ?? null, JSON.stringify(cells), metadata.type, metadata.data, body.type, body.data],
  )
  return []
}

/** Numbered writes stay as they were first put; of the others the last one counts. */
export function putWrites(
  { run }: Connection,
  of: Of,
  { threadId, namespace, checkpointId, taskId, writes }: WritesToStore,
): void {
  const address = [threadId, namespace, checkpointId, taskId].map(toText)
  for (const { channel, place, type, data } of writes) {
    run(
      `INSERT OR ${place < 0 ? 'REPLACE' : 'IGNORE'} INTO ${of('writes')}
        (thread_id, namespace, checkpoint_id, task_id, place, channel, type, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[...address, place, toText(channel), type, data],
    )
  }
}

/** Runs in a transaction. See `CheckpointTables.keepOnly`. */
export function keepOnly(
  connection: Connection,
  of: Of,
  threadId: string,
  remainders: readonly Remainder[],
): void {
  const thread = toText(threadId)
  for (const { namespace, newest, checkpointIds } of remainders) {
    const [name, last] = [toText(namespace), toText(newest)]
    const found = findCheckpoint(connection, of, 'checkpoint_id', [thread, name, undefined])
    if (found?.checkpoint_id !== last) continue
    const staying = JSON.stringify(checkpointIds.map(toText))
    // Writes may come before their checkpoint.
    connection.run(
      `DELETE FROM ${of('writes')} WHERE thread_id = ? AND namespace = ?
        AND (checkpoint_id <= ? OR checkpoint_id IN (
          SELECT checkpoint_id FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ?
        )) AND checkpoint_id NOT IN (SELECT value FROM json_each(?))`,
      ...[thread, name, last, thread, name, staying],
    )
    connection.run(
      `DELETE FROM ${of('checkpoints')}
        WHERE thread_id = ? AND namespace = ? AND checkpoint_id NOT IN (SELECT value FROM json_each(?))`,
      ...[thread, name, staying],
    )
    connection.run(
      `WITH cells AS (
          SELECT json_extract(cell.value, '$[2]') AS id FROM ${of('checkpoints')} AS c, json_each(c.cells) AS cell
          WHERE c.thread_id = ? AND c.namespace = ?
        )
        DELETE FROM ${of('channel_values')} WHERE thread_id = ? AND namespace = ?
          AND id NOT IN (SELECT id FROM cells WHERE id IS NOT NULL)`,
      ...[thread, name, thread, name],
    )
  }
}

/** Runs in a snapshot. */
export function loadCheckpoint(
  connection: Connection,
  of: Of,
  address: Address,
): StoredCheckpoint | undefined {
  const head = findCheckpoint(connection, of, '*', address)
  if (!head) return undefined
  const ids = new Map(readCells(head).map(([channel, , id]) => [channel, id]))
  const rows = connection.all(
    `SELECT v.id, v.type, v.data FROM json_each(?) AS wanted JOIN ${of('channel_values')} AS v ON v.id = wanted.value`,
    JSON.stringify([...ids.values()].filter((id) => id !== null)),
  )
  const values = new Map(rows.map((row) => [Number(row.id), row]))
  const {
    thread_id: thread,
    namespace,
    checkpoint_id: id,
    parent_id: parent,
  } = head as Record<string, string>
  return {
    threadId: fromText(thread!),
    namespace: fromText(namespace!),
    checkpointId: fromText(id!),
    parentId: parent === null ? undefined : fromText(parent!),
    body: toStored({ type: head.body_type!, data: head.body! }),
    metadata: metadataOf(head),
    value(channel) {
      const row = values.get(ids.get(channel) ?? -1)
      return row && toStored(row)
    },
    writes: loadWrites(connection, of, [thread!, namespace!, id!]),
  }
}

export function findCheckpoint(
  { get }: Connection,
  of: Of,
  columns: string,
  [thread, namespace, checkpoint]: Address,
): Row | undefined {
  const id = checkpoint === undefined ? newestId(of('checkpoints'), '?', '?') : '?'
  return get(
    `SELECT ${columns} FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ${id}`,
    ...[thread, namespace, ...(checkpoint === undefined ? [thread, namespace] : [checkpoint])],
  )
}

export function loadWrites({ all }: Connection, of: Of, address: readonly string[]): StoredWrite[] {
  const rows = all(
    `SELECT task_id, place, channel, type, data FROM ${of('writes')}
      WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ?`,
    ...address,
  )
  return rows.map((row) => ({
    taskId: fromText(row.task_id as string),
    place: Number(row.place),
    channel: fromText(row.channel as string),
    ...toStored(row),
  }))
}

/** From a row with `checkpoint_id` and `sort_key`. */
const sortedOf = ({ checkpoint_id: id, sort_key: key }: Row): Sorted => ({
  checkpointId: id as string,
  sortKey: (key ?? undefined) as string | undefined,
})

/** From a row with `cells`. */
export function readCells(row: Row | undefined): Cell[] {
  return row === undefined ? [] : (JSON.parse(row.cells as string) as Cell[])
}

/** From a row with `metadata_type` and `metadata`. */
export function metadataOf(row: Row): Stored {
  return toStored({ type: row.metadata_type!, data: row.metadata! })
}

/** From a row with `type` and `data`. */
export function toStored({ type, data }: Row): Stored {
  return { type: type as string, data: bytesOf(data) }
}
