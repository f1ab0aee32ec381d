import { decodeCursor, pageSize } from '../../store/cursor.ts'
import type { Doc, ListQuery } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Row, SqliteValue } from '../driver.ts'

/** A value of an index field as the column `key` keeps it. */
export function toKey(value: string | number): string | number {
  return typeof value === 'number' ? value : toText(value)
}

/** Selects one document more than the page has, to see whether there are more. */
export function listStatement(
  of: (table: string) => string,
  collection: string,
  query: ListQuery,
  now: number,
): { sql: string; parameters: SqliteValue[] } {
  const { partition, where = {}, orderBy, descending = false, cursor } = query
  const joins: string[] = []
  const joined: SqliteValue[] = []
  const conditions = ['d.collection = ?', '(d.expires_at IS NULL OR d.expires_at > ?)']
  const parameters: SqliteValue[] = [toText(collection), now]
  const join = (alias: string, field: string, more: string, ...values: SqliteValue[]) => {
    const same = ['collection', 'partition', 'id'].map((column) => `${alias}.${column} = d.${column}`)
    joins.push(
      `JOIN ${of('fields')} AS ${alias} ON ${same.join(' AND ')} AND ${alias}.collection = ? AND ${alias}.field = ?${more}`,
    )
    joined.push(toText(collection), toText(field), ...values)
  }
  const matched = Object.entries(where)
  for (const [i, [field, wanted]] of matched.entries())
    join(`w${i}`, field, ` AND w${i}.key = ?`, toKey(wanted))
  if (partition !== undefined) {
    conditions.push('d.partition = ?')
    parameters.push(toText(partition))
  }
  // The rows of one value of a field are in this order already.
  const order = ['partition', 'id'].map((column) => `${matched.length > 0 ? 'w0' : 'd'}.${column}`)
  if (orderBy !== undefined) {
    join('o', orderBy, '')
    order.splice(0, 2, 'o.key', 'o.partition', 'o.id')
  }
  if (cursor !== undefined) {
    const { key, ...last } = decodeCursor(cursor)
    if (orderBy !== undefined) parameters.push(toKey(key ?? ''))
    parameters.push(toText(last.partition), toText(last.id))
    conditions.push(`(${order}) ${descending ? '<' : '>'} (${order.map(() => '?')})`)
  }
  const sorted = order.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`)
  return {
    sql: `SELECT d.partition, d.id, d.version, d.fields, d.value FROM ${of('documents')} AS d ${joins.join(' ')}
      WHERE ${conditions.join(' AND ')} ORDER BY ${sorted} LIMIT ?`,
    parameters: [...joined, ...parameters, pageSize(query) + 1],
  }
}

/** A row with `partition, id, version, fields, value`. */
export function toDoc(row: Row): Doc {
  return {
    partition: fromText(row.partition as string),
    id: fromText(row.id as string),
    value: JSON.parse(row.value as string),
    version: Number(row.version),
    index: JSON.parse(row.fields as string),
  }
}
