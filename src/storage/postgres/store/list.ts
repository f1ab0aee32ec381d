import { decodeCursor, pageSize } from '../../store/cursor.ts'
import type { Doc, ListQuery } from '../../store/store.ts'
import type { Row } from '../database.ts'
import type { Names } from '../names.ts'
import { keyOf, readNames } from '../text.ts'
import { placeOf } from './change.ts'
import { NOW_ONCE } from './sql-store.ts'

/** Selects one document more than the page has, to see whether there are more. */
export function listStatement(
  { of }: Names,
  collection: string,
  query: ListQuery,
): { text: string; values: unknown[] } {
  const { partition, where = {}, orderBy, descending = false, cursor } = query
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const inCollection = value(keyOf(collection))
  const joins: string[] = []
  const conditions = [
    `d.collection = ${inCollection}`,
    `(d.expires_at IS NULL OR d.expires_at > ${NOW_ONCE})`,
  ]
  const join = (alias: string, field: string) => {
    joins.push(
      `JOIN ${of('fields')} AS ${alias} ON ${alias}.document = d.key ` +
        `AND ${alias}.collection = ${inCollection} AND ${alias}.field = ${value(keyOf(field))}`,
    )
  }
  for (const [i, [field, wanted]] of Object.entries(where).entries()) {
    const [num, str] = placeOf(wanted)
    join(`w${i}`, field)
    conditions.push(`w${i}.num = ${value(String(num))}`, `w${i}.str = ${value(str)}`)
  }
  if (partition !== undefined) conditions.push(`d.partition = ${value(keyOf(partition))}`)
  const order = ['d.partition', 'd.id']
  if (orderBy !== undefined) {
    join('o', orderBy)
    order.splice(0, 2, 'o.num', 'o.str', 'o.partition', 'o.id')
  }
  if (cursor !== undefined) {
    const { key, ...last } = decodeCursor(cursor)
    const place = [value(keyOf(last.partition)), value(keyOf(last.id))]
    if (orderBy !== undefined) place.unshift(...placeOf(key ?? '').map((part) => value(String(part))))
    conditions.push(`(${order}) ${descending ? '<' : '>'} (${place})`)
  }
  return {
    text: `SELECT d.partition, d.id, d.names, d.version, d.value, d.fields FROM ${of('documents')} AS d ${joins.join(' ')}
      WHERE ${conditions.join(' AND ')}
      ORDER BY ${order.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`)} LIMIT ${value(pageSize(query) + 1)}`,
    values,
  }
}

/** A row with `partition, id, names, version, value, fields`. */
export function toDoc(row: Row): Doc {
  const [partition, id] = readNames(row.names!, row.partition!, row.id!)
  return {
    partition,
    id,
    value: JSON.parse(row.value!),
    version: Number(row.version),
    index: JSON.parse(row.fields!),
  }
}
