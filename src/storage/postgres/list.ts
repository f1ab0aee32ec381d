import { decodeCursor, encodeCursor, positionOf } from '../cursor.ts'
import type { Doc, DocPage, ListQuery } from '../store.ts'
import { placeOf } from './change.ts'
import type { Row } from './database.ts'
import type { Names } from './names.ts'
import { NOW_ONCE } from './sql-store.ts'
import { keyOf, readNames } from './text.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000

export function limitOf({ limit = DEFAULT_LIMIT }: ListQuery): number {
  return Math.min(Math.max(limit, 1), MAX_LIMIT)
}

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
      ORDER BY ${order.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`)} LIMIT ${value(limitOf(query) + 1)}`,
    values,
  }
}

export function toPage(rows: readonly Row[], query: ListQuery): DocPage {
  const limit = limitOf(query)
  const docs = rows.slice(0, limit).map(toDoc)
  return rows.length > limit
    ? { docs, cursor: encodeCursor(positionOf(docs[limit - 1]!, query.orderBy)) }
    : { docs }
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
