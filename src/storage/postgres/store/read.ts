import { type Layout, readBounds, toBatch } from '../../store/log-layout.ts'
import type { LogBatch, ReadQuery } from '../../store/store.ts'
import type { Database } from '../database.ts'
import { keyOf } from '../text.ts'

/** Reads of logs. Readers that ask the same before the query is sent share its answer. */
export function createReader(database: Database): (partition: string, query: ReadQuery) => Promise<LogBatch> {
  const unsent = new Map<string, Promise<LogBatch>>()
  return (partition, query) => {
    const { limit, maxBytes } = readBounds(query)
    const asked = JSON.stringify([partition, query.after, limit, maxBytes])
    const known = unsent.get(asked)
    if (known) return known
    const forget = () => {
      if (unsent.get(asked) === answer) unsent.delete(asked)
    }
    const send = async () => {
      const [row] = await database.run({
        text: `SELECT head, first_retained, first, layouts, data FROM ${database.names.of('read')}($1, $2, $3, $4)`,
        values: [keyOf(partition), query.after, limit, maxBytes],
        onSend: forget,
      })
      const { head, first_retained: firstRetained, first, layouts, data } = row!
      const found = {
        head: Number(head ?? 0),
        firstRetained: Number(firstRetained ?? 1),
        first: Number(first),
        layouts: JSON.parse(`[${layouts ?? ''}]`) as Layout[],
        bytes(start: number, end: number) {
          const bytes = Buffer.from(data!, 'base64')
          return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start)
        },
      }
      return toBatch(found, query)
    }
    const answer = send().finally(forget)
    unsent.set(asked, answer)
    return answer
  }
}
