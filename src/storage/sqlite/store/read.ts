import { concatBytes } from '../../../core/bytes.ts'
import { type Layout, readBounds, toBatch } from '../../store/log-layout.ts'
import type { LogBatch, ReadQuery } from '../../store/store.ts'
import { toText } from '../../text.ts'
import { bytesOf, type Connection } from '../connection.ts'

const MAX_ATTEMPTS = 20

/** Two statements. If another process drops the events between them, they run again. */
export function readLog({ get, all }: Connection, partition: string, query: ReadQuery): LogBatch {
  const { limit, maxBytes } = readBounds(query)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = get('SELECT id, head, first_retained FROM {partitions} WHERE name = ?', toText(partition))
    const head = Number(row?.head ?? 0)
    const firstRetained = Number(row?.first_retained ?? 1)
    const first = Math.max(query.after + 1, firstRetained)
    if (row === undefined || first > head) {
      return toBatch({ head, firstRetained, first, layouts: [], bytes: () => new Uint8Array(0) }, query)
    }
    const id = Number(row.id)
    // Up to the row that reaches the limit.
    const rows = all(
      `SELECT first, layout, data FROM {log} WHERE partition = ? AND last >= ? AND last <= min(?, coalesce((
          SELECT last FROM {log} WHERE partition = ? AND last >= ? AND ends >= ? + (
            SELECT starts FROM {log} WHERE partition = ? AND last >= ? ORDER BY last LIMIT 1
          ) ORDER BY last LIMIT 1
        ), ?)) ORDER BY last LIMIT ?`,
      ...[id, first, head, id, first, maxBytes, id, first, head, limit],
    )
    if (rows.length === 0 || Number(rows[0]!.first) > first) continue
    const layouts = rows.map(({ layout }) => JSON.parse(layout as string) as Layout)
    const data = concatBytes(rows.map(({ data }) => bytesOf(data)))
    const bytes = (start: number, end: number) => data.subarray(start, end)
    return toBatch({ head, firstRetained, first: Number(rows[0]!.first), layouts, bytes }, query)
  }
  throw new Error(`The log of ${partition} has a gap after ${query.after}.`)
}
