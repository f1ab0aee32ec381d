import type { Ancestor } from '../../checkpointer/delta-history.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import type { Database } from '../database.ts'
import { keyOf, toText } from '../text.ts'
import { type Address, type Cells, revive, toWrites } from './tuples.ts'

/** Checkpoints that are read at once. */
const PAGE = 100

/** Nearest first, without the checkpoint itself. */
export async function* ancestorsOf(
  database: Database,
  serde: Serde,
  [thread, namespace, checkpoint]: Address,
  channels: readonly string[],
): AsyncGenerator<Ancestor> {
  let from = checkpoint
  let isItself = true
  do {
    const rows = await database.run({
      text: lineText(database.names.of),
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
        const writes = rows.filter((row) => row.kind === 'write' && row.depth === depth)
        yield {
          writes: await toWrites(serde, writes),
          value: (channel) => loadValue(database, serde, cells[keyOf(channel)]?.[1]),
        }
      }
      isItself = false
    }
  } while (from !== null)
}

function lineText(of: (name: string) => string): string {
  return `WITH RECURSIVE line AS (
      SELECT 1 AS depth, * FROM ${of('checkpoints')}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = coalesce(
        $3, (SELECT max(checkpoint_id) FROM ${of('checkpoints')} WHERE thread_id = $1 AND namespace = $2)
      )
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
    SELECT 'write', depth, jsonb_build_array(task_id, place, w.names, channel)::text, w.type, encode(data, 'hex')
    FROM line CROSS JOIN LATERAL (
      SELECT * FROM ${of('writes')}
      WHERE thread_id = $1 AND namespace = $2 AND checkpoint_id = line.checkpoint_id AND channel = ANY ($5::text[])
      OFFSET 0
    ) AS w`
}

async function loadValue(database: Database, serde: Serde, id: number | null | undefined): Promise<unknown> {
  if (id === null || id === undefined) return undefined
  const [row] = await database.run({
    text: `SELECT type, encode(data, 'hex') AS data FROM ${database.names.of('channel_values')} WHERE id = $1`,
    values: [id],
  })
  return row && revive(serde, row.type!, row.data!)
}
