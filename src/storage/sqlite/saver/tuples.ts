import type { Checkpoint, CheckpointMetadata, CheckpointTuple } from '../../checkpointer/checkpointer.ts'
import { addPendingSends, configOf, TASKS } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import type { PendingWrite } from '../../memory/checkpoints.ts'
import { fromText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import { bytesOf, type Row, type SqliteValue } from '../driver.ts'
import { type Address, readCells } from './checkpoint-rows.ts'

/** A checkpoint as its rows say. */
export interface CheckpointRows {
  readonly head: Row
  /** With `id`, `type` and `data`. */
  readonly values: readonly Row[]
  /** With `task_id`, `channel`, `type` and `data`, in order. */
  readonly writes: readonly Row[]
  /** What the parent's tasks sent, where the checkpoint is so old that it is a part of it. */
  readonly sends: readonly Row[]
}

/** Runs in a snapshot. Without an id it is the newest checkpoint of the namespace. */
export function loadCheckpoint(
  connection: Connection,
  of: (table: string) => string,
  thread: string,
  namespace: string,
  checkpoint: string | undefined,
): CheckpointRows | undefined {
  const { get, all } = connection
  const head = get(
    `SELECT * FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ?
      ${checkpoint === undefined ? 'ORDER BY checkpoint_id DESC LIMIT 1' : 'AND checkpoint_id = ?'}`,
    ...[thread, namespace, ...(checkpoint === undefined ? [] : [checkpoint])],
  )
  if (!head) return undefined
  const ids = readCells(head.cells).flatMap(([, , id]) => (id === null ? [] : [id]))
  const values = all(
    `SELECT v.id, v.type, v.data FROM json_each(?) AS wanted JOIN ${of('channel_values')} AS v ON v.id = wanted.value`,
    JSON.stringify(ids),
  )
  const writesAt = (id: SqliteValue) => loadWrites(connection, of, [thread, namespace, id as string])
  return {
    head,
    values,
    writes: writesAt(head.checkpoint_id!),
    sends:
      head.parent_id === null ? [] : writesAt(head.parent_id!).filter(({ channel }) => channel === TASKS),
  }
}

/** By task, then place. */
export function loadWrites({ all }: Connection, of: (table: string) => string, address: Address): Row[] {
  return all(
    `SELECT task_id, channel, type, data FROM ${of('writes')}
      WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ? ORDER BY task_id, place`,
    ...address,
  )
}

export async function toTuple(
  serde: Serde,
  { head, values, writes, sends }: CheckpointRows,
): Promise<CheckpointTuple> {
  const byId = new Map(values.map((row) => [Number(row.id), row]))
  const cells = readCells(head.cells).map(async ([channel, , id]) => {
    const row = id === null ? undefined : byId.get(id)
    return row === undefined ? [] : [[channel, await revive(serde, row)] as const]
  })
  const checkpoint: Checkpoint = {
    ...((await revive(serde, { type: head.body_type!, data: head.body! })) as Checkpoint),
    channel_values: Object.fromEntries((await Promise.all(cells)).flat()),
  }
  if (checkpoint.v < 4 && head.parent_id !== null) {
    addPendingSends(checkpoint, await Promise.all(sends.map((row) => revive(serde, row))))
  }
  const [thread, namespace] = [head.thread_id, head.namespace].map((text) => fromText(text as string))
  const at = (id: SqliteValue) => configOf(thread!, namespace!, fromText(id as string))
  return {
    config: at(head.checkpoint_id!),
    checkpoint,
    metadata: await reviveMetadata(serde, head),
    pendingWrites: await toWrites(serde, writes),
    ...(head.parent_id !== null && { parentConfig: at(head.parent_id!) }),
  }
}

export function toWrites(serde: Serde, rows: readonly Row[]): Promise<PendingWrite[]> {
  return Promise.all(
    rows.map(async (row): Promise<PendingWrite> => {
      return [fromText(row.task_id as string), fromText(row.channel as string), await revive(serde, row)]
    }),
  )
}

/** A row with `metadata_type` and `metadata`. */
export function reviveMetadata(serde: Serde, row: Row): Promise<CheckpointMetadata> {
  return revive(serde, { type: row.metadata_type!, data: row.metadata! }) as Promise<CheckpointMetadata>
}

/** A row with `type` and `data`. */
export async function revive(serde: Serde, { type, data }: Row): Promise<unknown> {
  return serde.loadsTyped(type as string, bytesOf(data))
}
