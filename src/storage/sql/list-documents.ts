import { decodeCursor, pageOffset, pageSize } from '../store/cursor.ts'
import type { ListQuery } from '../store/store.ts'

/** SQL with a `?` for each value, in the order of the values, and table names in braces. */
export interface SqlStatement<Value> {
  readonly text: string
  readonly values: readonly Value[]
}

/** How a database stores `{documents}`, as `d`, and a `{fields}` row for each of their index fields. */
export interface DocumentSchema<Value> {
  readonly columns: string
  /** A name as the columns `collection`, `partition`, `id` and `field` store it. */
  nameOf(name: string): Value
  now(): SqlStatement<Value>
  /** The condition that matches the row `alias` of `fields` to `d`. */
  belongs(alias: string): string
  /** The value columns of `fields`, in the order that sorts numbers before strings. */
  readonly keys: readonly string[]
  keysOf(value: string | number): readonly Value[]
  /** Whether to order by the rows of the first matched field, which are already ordered. */
  readonly ordersByMatch: boolean
}

/** Selects one document more than the page has, to see whether there are more. */
export function listStatement<Value>(
  schema: DocumentSchema<Value>,
  collection: string,
  query: ListQuery,
): SqlStatement<Value | number> {
  const { nameOf, keys, keysOf } = schema
  const now = schema.now()
  const { partition, where = {}, orderBy, descending = false, cursor } = query
  const joins: string[] = []
  const joined: Value[] = []
  const conditions = ['d.collection = ?', `(d.expires_at IS NULL OR d.expires_at > ${now.text})`]
  const values: (Value | number)[] = [nameOf(collection), ...now.values]
  const join = (alias: string, field: string, wanted?: string | number) => {
    const matches = wanted === undefined ? [] : keys.map((key) => `${alias}.${key} = ?`)
    const on = [schema.belongs(alias), `${alias}.collection = ?`, `${alias}.field = ?`, ...matches]
    joins.push(`JOIN {fields} AS ${alias} ON ${on.join(' AND ')}`)
    joined.push(nameOf(collection), nameOf(field), ...(wanted === undefined ? [] : keysOf(wanted)))
  }
  const matched = Object.entries(where)
  for (const [i, [field, wanted]] of matched.entries()) join(`w${i}`, field, wanted)
  if (partition !== undefined) {
    conditions.push('d.partition = ?')
    values.push(nameOf(partition))
  }
  const ordered = orderBy === undefined ? (schema.ordersByMatch && matched.length > 0 ? 'w0' : 'd') : 'o'
  const order = [...(orderBy === undefined ? [] : keys), 'partition', 'id'].map((key) => `${ordered}.${key}`)
  if (orderBy !== undefined) join('o', orderBy)
  if (cursor !== undefined) {
    const { key, ...last } = decodeCursor(cursor)
    if (orderBy !== undefined) values.push(...keysOf(key ?? ''))
    values.push(nameOf(last.partition), nameOf(last.id))
    conditions.push(`(${order}) ${descending ? '<' : '>'} (${order.map(() => '?')})`)
  }
  const sorted = order.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`)
  const offset = pageOffset(query)
  if (offset > 0) {
    // The last skipped document, found without reading the documents.
    conditions.push(`(${order}) ${descending ? '<' : '>'} (SELECT ${order} FROM {fields} AS o
      WHERE o.collection = ? AND o.field = ? ORDER BY ${sorted} LIMIT 1 OFFSET ?)`)
    values.push(nameOf(collection), nameOf(orderBy!), offset - 1)
  }
  return {
    text: `SELECT ${schema.columns} FROM {documents} AS d ${joins.join(' ')}
      WHERE ${conditions.join(' AND ')} ORDER BY ${sorted} LIMIT ?`,
    values: [...joined, ...values, pageSize(query) + 1],
  }
}
