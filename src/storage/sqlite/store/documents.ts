import type { DocumentSchema } from '../../sql/list-documents.ts'
import { leaseOf } from '../../store/commit.ts'
import type { Doc, DocIndex, DocKey, LeaseRecord } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Connection, Row, SqliteValue } from '../connection.ts'

export type Place = readonly [collection: string, partition: string, id: string]

export const PLACE = 'collection = ? AND partition = ? AND id = ?'
const KEYED = 'collection = ? AND field = ? AND key = ? AND partition = ? AND id = ?'

export const documentSchema: DocumentSchema<SqliteValue> = {
  columns: 'd.partition, d.id, d.version, d.fields, d.value',
  nameOf: toText,
  now: () => ({ text: '?', values: [Date.now()] }),
  belongs: (alias) => `${alias}.partition = d.partition AND ${alias}.id = d.id`,
  keys: ['key'],
  keysOf: (value) => [toKey(value)],
  ordersByMatch: true,
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

/** A document that has not expired at the time `now`. */
export function loadDocument(
  { get }: Connection,
  partition: string,
  { collection, id }: DocKey,
  now: number,
): Doc | undefined {
  const row = get(
    `SELECT partition, id, version, fields, value FROM {documents}
      WHERE ${PLACE} AND (expires_at IS NULL OR expires_at > ?)`,
    ...[toText(collection), toText(partition), toText(id), now],
  )
  return row && toDoc(row)
}

interface NewDocument {
  readonly version: number
  readonly expiresAt: number | null
  readonly index: DocIndex
  readonly text: string
}

export function putDocument(
  connection: Connection,
  place: Place,
  { version, expiresAt, index, text }: NewDocument,
): void {
  const fields = JSON.stringify(index)
  const known = connection.get(`SELECT fields FROM {documents} WHERE ${PLACE}`, ...place)
  connection.run(
    known === undefined
      ? `INSERT INTO {documents} (version, expires_at, fields, value, collection, partition, id)
          VALUES (?, ?, ?, ?, ?, ?, ?)`
      : `UPDATE {documents} SET version = ?, expires_at = ?, fields = ?, value = ? WHERE ${PLACE}`,
    ...[version, expiresAt, fields, text, ...place],
  )
  if (known?.fields !== fields) changeFields(connection, place, readIndex(known), index)
}

/** Removes the documents that match a condition, and returns their number. */
export function removeDocuments(connection: Connection, condition: string, ...values: SqliteValue[]): number {
  const rows = connection.all(
    `SELECT collection, partition, id, fields FROM {documents} WHERE ${condition}`,
    ...values,
  )
  for (const row of rows) {
    const place = [row.collection, row.partition, row.id] as unknown as Place
    changeFields(connection, place, readIndex(row), {})
    connection.run(`DELETE FROM {documents} WHERE ${PLACE}`, ...place)
  }
  return rows.length
}

const readIndex = (row: Row | undefined): DocIndex => (row ? JSON.parse(row.fields as string) : {})

/**
 * Field by field, because the count only changes when a field is added or removed. Rows are found by their
 * complete keys, so they need no second index.
 */
function changeFields(
  { run }: Connection,
  [collection, ...rest]: Place,
  before: DocIndex,
  after: DocIndex,
): void {
  const rowOf = (field: string, value: string | number) => [collection, toText(field), toKey(value), ...rest]
  for (const [field, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, field)) {
      const columns = '(collection, field, key, partition, id)'
      run(`INSERT INTO {fields} ${columns} VALUES (?, ?, ?, ?, ?)`, ...rowOf(field, value))
    } else if (before[field] !== value) {
      run(`UPDATE {fields} SET key = ? WHERE ${KEYED}`, toKey(value), ...rowOf(field, before[field]!))
    }
  }
  for (const [field, value] of Object.entries(before))
    if (!Object.hasOwn(after, field)) run(`DELETE FROM {fields} WHERE ${KEYED}`, ...rowOf(field, value))
}

/** A value of an index field as the column `key` stores it. */
const toKey = (value: string | number): string | number => (typeof value === 'number' ? value : toText(value))

/** A row of `partitions`. */
export interface Partition {
  /** Undefined until it is first written. */
  readonly id: number | undefined
  readonly head: number
  readonly firstRetained: number
  readonly bytes: number
  readonly token: number
  /** The highest document version. */
  readonly version: number
  readonly lease: LeaseRecord | undefined
  /** The number of commits that touched more than the log. */
  readonly docsChanged: number
}

const COUNTERS = { head: 0, first_retained: 1, bytes: 0, token: 0, version: 0, docs_changed: 0 }
const NEVER: Row = { ...COUNTERS, id: null, lease_token: null }

export function loadPartition({ get }: Connection, name: string): Partition {
  const row = get('SELECT * FROM {partitions} WHERE name = ?', toText(name)) ?? NEVER
  return {
    id: row.id === null ? undefined : Number(row.id),
    head: Number(row.head),
    firstRetained: Number(row.first_retained),
    bytes: Number(row.bytes),
    token: Number(row.token),
    version: Number(row.version),
    lease: row.lease_token === null ? undefined : toLease(name, row),
    docsChanged: Number(row.docs_changed),
  }
}

/** From a row with `lease_owner, lease_token, lease_until`. */
export function toLease(name: string, row: Row): LeaseRecord {
  return leaseOf(name, fromText(row.lease_owner as string), Number(row.lease_token), Number(row.lease_until))
}

export function savePartition({ run }: Connection, partition: Partition & { readonly id: number }): void {
  const { id, head, firstRetained, bytes, token, version, lease, docsChanged } = partition
  run(
    `UPDATE {partitions} SET head = ?, first_retained = ?, bytes = ?, token = ?, version = ?, lease_owner = ?,
      lease_token = ?, lease_until = ?, docs_changed = ? WHERE id = ?`,
    ...[head, firstRetained, bytes, token, version],
    ...[lease ? toText(lease.owner) : null, lease?.token ?? null, lease?.expiresAt ?? null],
    ...[docsChanged, id],
  )
}

export function addPartition({ get }: Connection, name: string): number {
  const row = get(
    `INSERT INTO {partitions} (name, head, first_retained, bytes, token, version, docs_changed)
      VALUES (?, 0, 1, 0, 0, 0, 0) RETURNING id`,
    toText(name),
  )
  return Number(row!.id)
}
