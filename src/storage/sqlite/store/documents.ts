import type { DocIndex } from '../../store/store.ts'
import { toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import type { Row } from '../driver.ts'
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
  if (known !== undefined) removeFields(connection, of, { collection, partition, id, fields: known.fields! })
  for (const [field, value] of Object.entries(doc.index)) {
    connection.run(
      `INSERT INTO ${of('fields')} (collection, field, key, partition, id) VALUES (?, ?, ?, ?, ?)`,
      ...[collection, toText(field), toKey(value), partition, id],
    )
  }
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
    removeFields(connection, of, row)
    connection.run(`DELETE FROM ${of('documents')} WHERE ${PLACE}`, row.collection!, row.partition!, row.id!)
  }
}

/** By their whole key, so that they need no second index. */
function removeFields(connection: Connection, of: Of, row: Row): void {
  const { collection, partition, id } = row
  for (const [field, value] of Object.entries(JSON.parse(row.fields as string) as DocIndex)) {
    connection.run(
      `DELETE FROM ${of('fields')} WHERE collection = ? AND field = ? AND key = ? AND partition = ? AND id = ?`,
      ...[collection!, toText(field), toKey(value), partition!, id!],
    )
  }
}
