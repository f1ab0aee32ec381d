import type { Checkpoint, CheckpointMetadata, CheckpointTuple } from '../../checkpointer/checkpointer.ts'
import { addPendingSends, configOf, TASKS } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import type { PendingWrite } from '../../memory/checkpoints.ts'
import type { Database, Row } from '../database.ts'
import { fromText, keyOf, readNames } from '../text.ts'

/** Thread, namespace and checkpoint, as keys. Without the last: the newest. */
export type Address = readonly [thread: string, namespace: string, checkpoint: string | null]

/** `[version, id of its value | null]` by channel. */
export type Cells = Readonly<Record<string, readonly [string, number | null]>>

type AboutCheckpoint = [
  thread: string,
  namespace: string,
  checkpoint: string,
  parent: string | null,
  names: string | null,
  cells: Cells,
  metadataType: string,
]

/** The tuples at the addresses, in their order, without those that are not there. */
export async function loadTuples(
  database: Database,
  serde: Serde,
  addresses: readonly Address[],
): Promise<CheckpointTuple[]> {
  const rows = await database.run({
    text: `SELECT kind, at, about, type, data, metadata FROM ${database.names.of('load')}($1)`,
    values: [JSON.stringify(addresses)],
  })
  const values = new Map(rows.filter(({ kind }) => kind === 'value').map((row) => [Number(row.at), row]))
  const checkpoints = rows.filter(({ kind }) => kind === 'checkpoint')
  checkpoints.sort((a, b) => Number(a.at) - Number(b.at))
  return Promise.all(
    checkpoints.map((row) => {
      const writes = rows.filter(({ kind, at }) => kind === 'write' && at === row.at)
      return toTuple(database, serde, row, values, writes)
    }),
  )
}

async function toTuple(
  database: Database,
  serde: Serde,
  row: Row,
  values: ReadonlyMap<number, Row>,
  writes: readonly Row[],
): Promise<CheckpointTuple> {
  const [threadKey, namespaceKey, idKey, parentKey, names, cells, metadataType] = JSON.parse(
    row.about!,
  ) as AboutCheckpoint
  const [threadId, namespace, id, parentId] = readNames(names, threadKey, namespaceKey, idKey, parentKey)
  const body = (await revive(serde, row.type!, row.data!)) as Omit<Checkpoint, 'channel_values'>
  const entries = Object.keys(body.channel_versions).map(async (channel) => {
    const value = values.get(cells[keyOf(channel)]?.[1] ?? -1)
    return value && ([channel, await revive(serde, value.type!, value.data!)] as const)
  })
  const given = (await Promise.all(entries)).filter((entry) => entry !== undefined)
  const checkpoint: Checkpoint = { ...body, channel_values: Object.fromEntries(given) }
  if (checkpoint.v < 4 && parentKey !== null) {
    const sends = await loadSends(database, serde, threadKey, namespaceKey, parentKey)
    addPendingSends(
      checkpoint,
      sends.map(([, , value]) => value),
    )
  }
  return {
    config: configOf(threadId, namespace, id),
    checkpoint,
    metadata: (await revive(serde, metadataType, row.metadata!)) as CheckpointMetadata,
    pendingWrites: await toWrites(serde, writes),
    ...(parentId !== null && { parentConfig: configOf(threadId, namespace, parentId) }),
  }
}

async function loadSends(
  database: Database,
  serde: Serde,
  thread: string,
  namespace: string,
  checkpoint: string,
): Promise<PendingWrite[]> {
  const rows = await database.run({
    text: `SELECT jsonb_build_array(task_id, place, names, channel)::text AS about, type, encode(data, 'hex') AS data
      FROM ${database.names.of('writes')}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = $3 AND channel = $4`,
    values: [thread, namespace, checkpoint, TASKS],
  })
  return toWrites(serde, rows)
}

type AboutWrite = [task: string, place: number, names: string | null, channel: string]

/** By task, then place. */
export async function toWrites(serde: Serde, rows: readonly Row[]): Promise<PendingWrite[]> {
  const writes = rows.map((row) => ({ row, about: JSON.parse(row.about!) as AboutWrite }))
  writes.sort(({ about: [a, i] }, { about: [b, j] }) => (a === b ? i - j : a < b ? -1 : 1))
  return Promise.all(
    writes.map(async ({ row, about: [task, , names, channel] }): Promise<PendingWrite> => {
      const [taskId] = readNames(names, task)
      return [taskId, fromText(channel), await revive(serde, row.type!, row.data!)]
    }),
  )
}

export async function revive(serde: Serde, type: string, hex: string): Promise<unknown> {
  const bytes = Buffer.from(hex, 'hex')
  return serde.loadsTyped(fromText(type), new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))
}
