import type { DeltaHistory } from '../memory-checkpoints.ts'
import type { Serde } from '../serde.ts'
import { readCells } from './checkpoint-rows.ts'
import type { Database } from './database.ts'
import type { Row } from './driver.ts'
import { fromText } from './text.ts'
import { loadWrites, revive, toWrites } from './tuples.ts'

/**
 * Walks the ancestors of a checkpoint once for all channels. A channel's walk ends at the nearest ancestor that stored a value,
 * its seed; the writes on that ancestor still count, for they made its child.
 */
export async function loadDeltaHistory(
  database: Database,
  serde: Serde,
  thread: string,
  namespace: string,
  checkpoint: string | undefined,
  channels: readonly string[],
): Promise<Record<string, DeltaHistory>> {
  const { of } = database
  const found = new Map<string, DeltaHistory>(channels.map((channel) => [channel, { writes: [] }]))
  const open = new Set(channels)
  const itself = await database.read(({ get }) =>
    get(
      `SELECT parent_id FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ?
        ${checkpoint === undefined ? 'ORDER BY checkpoint_id DESC LIMIT 1' : 'AND checkpoint_id = ?'}`,
      ...[thread, namespace, ...(checkpoint === undefined ? [] : [checkpoint])],
    ),
  )
  let at = (itself?.parent_id ?? null) as string | null
  while (at !== null && open.size > 0) {
    const ancestor = await loadAncestor(database, thread, namespace, at, open)
    if (!ancestor) break
    for (const write of (await toWrites(serde, ancestor.writes)).reverse()) {
      found.get(write[1])!.writes.push(write)
    }
    for (const [channel, row] of ancestor.values) {
      const seed = await revive(serde, row)
      if (seed === undefined) continue
      found.get(channel)!.seed = seed
      open.delete(channel)
    }
    at = ancestor.parent
  }
  for (const history of found.values()) history.writes.reverse()
  return Object.fromEntries(found)
}

/** A checkpoint with what it has of some channels. */
function loadAncestor(
  { of, snapshot }: Database,
  thread: string,
  namespace: string,
  checkpoint: string,
  channels: ReadonlySet<string>,
) {
  return snapshot((connection) => {
    const head = connection.get(
      `SELECT parent_id, cells FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ?`,
      ...[thread, namespace, checkpoint],
    )
    if (!head) return undefined
    const values = readCells(head.cells).flatMap(([channel, , id]): [string, Row][] => {
      if (id === null || !channels.has(channel)) return []
      const row = connection.get(`SELECT type, data FROM ${of('channel_values')} WHERE id = ?`, id)
      return row ? [[channel, row]] : []
    })
    const writes = loadWrites(connection, of, [thread, namespace, checkpoint]).filter(({ channel }) =>
      channels.has(fromText(channel as string)),
    )
    return { parent: head.parent_id as string | null, values, writes }
  })
}
