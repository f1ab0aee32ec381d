import type { Ancestor } from '../../checkpointer/delta-history.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import { readCells } from './checkpoint-rows.ts'
import { loadWrites, revive, toWrites } from './tuples.ts'

/** Nearest first, without the checkpoint itself. */
export async function* ancestorsOf(
  database: Database,
  serde: Serde,
  thread: string,
  namespace: string,
  checkpoint: string | undefined,
  channels: readonly string[],
): AsyncGenerator<Ancestor> {
  const { of, read, snapshot } = database
  const itself = await read(({ get }) =>
    get(
      `SELECT parent_id FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ?
        ${checkpoint === undefined ? 'ORDER BY checkpoint_id DESC LIMIT 1' : 'AND checkpoint_id = ?'}`,
      ...[thread, namespace, ...(checkpoint === undefined ? [] : [checkpoint])],
    ),
  )
  let at = (itself?.parent_id ?? null) as string | null
  while (at !== null) {
    const address = [thread, namespace, at] as const
    const found = await snapshot((connection) => {
      const head = connection.get(
        `SELECT parent_id, cells FROM ${of('checkpoints')} WHERE thread_id = ? AND namespace = ? AND checkpoint_id = ?`,
        ...address,
      )
      return head && { head, rows: loadWrites(connection, of, address) }
    })
    if (!found) return
    const wanted = found.rows.filter(({ channel }) => channels.includes(fromText(channel as string)))
    const cells = new Map(readCells(found.head.cells).map(([channel, , id]) => [channel, id]))
    yield {
      writes: await toWrites(serde, wanted),
      async value(channel) {
        const id = cells.get(channel) ?? null
        if (id === null) return undefined
        const row = await read(({ get }) =>
          get(`SELECT type, data FROM ${of('channel_values')} WHERE id = ?`, id),
        )
        return row && revive(serde, row)
      },
    }
    at = found.head.parent_id as string | null
  }
}
