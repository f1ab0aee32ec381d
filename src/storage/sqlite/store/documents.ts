import type { DocIndex } from '../../store/store.ts'
import { toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import type { Row, SqliteValue } from '../driver.ts'
import { toKey } from './list.ts'

/** A document and its rows in `fields`. All names are as `toText` gives them. */
export interface DocumentRow {
  readonly partition: string
  readonly collection: string
  readonly id: string
  readonly version: number
  readonly expiresAt: number | null
  readonly index: DocIndex
  readonly text: string
}

type Of = (table: string) => string

const PLACE = 'collection = ? AND partition = ? AND id = ?'

export function putDocument(connection: Connection, of: Of, doc: DocumentRow): void {
  const { partition, collection, id, version, expiresAt, text } = doc
  const fields = JSON.stringify(doc.index)
  const known = connection.get(
    `SELECT fields FROM ${of('documents')} WHERE ${PLACE}`,
    collection,
    partition,
    id,
  )
  if (known === undefined) {
    connection.run(
      `INSERT INTO ${of('documents')} (partition, collection, id, version, expires_at, fields, value)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[partition, collection, id, version, expiresAt, fields, text],
    )
  } else {
    connection.run(
      `UPDATE ${of('documents')} SET version = ?, expires_at = ?, fields = ?, value = ? WHERE ${PLACE}`,
      ...[version, expiresAt, fields, text, collection, partition, id],
    )
  }
  if (known?.fields === fields) return
  const before: DocIndex = known === undefined ? {} : JSON.parse(known.fields as string)
  changeFields(connection, of, doc, before)
}

/** Field by field: what is counted changes only where a field comes or goes. */
function changeFields(
  { run }: Connection,
  of: Of,
  { collection, partition, id, index }: DocumentRow,
  before: DocIndex,
): void {
  const isIn = (fields: DocIndex, field: string) => Object.hasOwn(fields, field)
  for (const [field, value] of Object.entries(index)) {
    if (!isIn(before, field)) {
      run(
        `INSERT INTO ${of('fields')} (collection, field, key, partition, id) VALUES (?, ?, ?, ?, ?)`,
        ...[collection, toText(field), toKey(value), partition, id],
      )
    } else if (before[field] !== value) {
      run(
        `UPDATE ${of('fields')} SET key = ? WHERE collection = ? AND field = ? AND key = ? AND partition = ? AND id = ?`,
        ...[toKey(value), collection, toText(field), toKey(before[field]!), partition, id],
      )
    }
  }
  const gone = Object.entries(before).filter(([field]) => !isIn(index, field))
  removeFields({ run }, of, { collection, partition, id }, gone)
}

export function removeDocument(
  connection: Connection,
  of: Of,
  collection: string,
  partition: string,
  id: string,
): void {
  const sql = `SELECT collection, partition, id, fields FROM ${of('documents')} WHERE ${PLACE}`
  removeAll(connection, of, connection.all(sql, collection, partition, id))
}

export function removePartition(connection: Connection, of: Of, partition: string): void {
  const sql = `SELECT collection, partition, id, fields FROM ${of('documents')} WHERE partition = ?`
  removeAll(connection, of, connection.all(sql, partition))
}

/** Removes at most `limit` and gives how many. */
export function removeExpired(connection: Connection, of: Of, now: number, limit: number): number {
  const rows = connection.all(
    `SELECT collection, partition, id, fields FROM ${of('documents')} WHERE expires_at <= ? LIMIT ?`,
    now,
    limit,
  )
  removeAll(connection, of, rows)
  return rows.length
}

function removeAll(connection: Connection, of: Of, rows: readonly Row[]): void {
  for (const row of rows) {
    const { collection, partition, id, fields } = row
    const place = { collection: collection!, partition: partition!, id: id! }
    removeFields(connection, of, place, Object.entries(JSON.parse(fields as string) as DocIndex))
    connection.run(`DELETE FROM ${of('documents')} WHERE ${PLACE}`, collection!, partition!, id!)
  }
}

/** By their whole key, so that they need no second index. */
function removeFields(
  { run }: Pick<Connection, 'run'>,
  of: Of,
  { collection, partition, id }: Readonly<Record<'collection' | 'partition' | 'id', SqliteValue>>,
  fields: readonly (readonly [string, string | number])[],
): void {
  for (const [field, value] of fields) {
    run(
      `DELETE FROM ${of('fields')} WHERE collection = ? AND field = ? AND key = ? AND partition = ? AND id = ?`,
      ...[collection, toText(field), toKey(value), partition, id],
    )
  }
}
