import { leaseOf } from '../commit.ts'
import type { LeaseRecord } from '../store.ts'
import type { Connection } from './connection.ts'
import type { Row } from './driver.ts'
import { fromText, toText } from './text.ts'

/** A row of `partitions`. */
export interface Partition {
  /** Undefined until it is written for the first time. */
  readonly id: number | undefined
  readonly head: number
  readonly firstRetained: number
  readonly bytes: number
  readonly token: number
  /** The highest version a document got. */
  readonly version: number
  readonly lease: LeaseRecord | undefined
  /** The number of the newest commit of the whole database. */
  readonly newest: number
}

const PARTITION_COLUMNS =
  'id, head, first_retained, bytes, token, version, lease_owner, lease_token, lease_until'

export function loadPartition({ get }: Connection, table: string, name: string): Partition {
  const row = get(
    `SELECT ${PARTITION_COLUMNS}, newest FROM (SELECT max(changed) AS newest FROM ${table}) LEFT JOIN ${table} ON name = ?`,
    toText(name),
  )
  return toPartition(name, row!)
}

function toPartition(name: string, row: Row): Partition {
  return {
    id: row.id === null ? undefined : Number(row.id),
    head: Number(row.head ?? 0),
    firstRetained: Number(row.first_retained ?? 1),
    bytes: Number(row.bytes ?? 0),
    token: Number(row.token ?? 0),
    version: Number(row.version ?? 0),
    lease: row.lease_token === null ? undefined : toLease(name, row),
    newest: Number(row.newest ?? 0),
  }
}

/** A row with `lease_owner, lease_token, lease_until`. */
export function toLease(name: string, row: Row): LeaseRecord {
  return leaseOf(name, fromText(row.lease_owner as string), Number(row.lease_token), Number(row.lease_until))
}

/** Writes the row as commit number `changed`. */
export function savePartition(
  { run }: Connection,
  table: string,
  { id, head, firstRetained, bytes, token, version, lease }: Partition & { readonly id: number },
  changed: { readonly number: number; readonly log: boolean; readonly docs: boolean },
): void {
  const { number, log, docs } = changed
  if (!docs) {
    // Nothing but appends: most commits are.
    const sql = `UPDATE ${table} SET head = ?, bytes = ?, changed = ?, log_changed = ? WHERE id = ?`
    run(sql, head, bytes, number, number, id)
    return
  }
  run(
    `UPDATE ${table} SET head = ?, first_retained = ?, bytes = ?, token = ?, version = ?, lease_owner = ?, lease_token = ?,
      lease_until = ?, changed = ?, log_changed = CASE WHEN ? THEN ? ELSE log_changed END, docs_changed = ? WHERE id = ?`,
    ...[head, firstRetained, bytes, token, version],
    ...[lease ? toText(lease.owner) : null, lease?.token ?? null, lease?.expiresAt ?? null],
    ...[number, Number(log), number, number, id],
  )
}

export function addPartition({ run, get }: Connection, table: string, name: string): number {
  run(
    `INSERT INTO ${table} (name, head, first_retained, bytes, token, version, changed, log_changed, docs_changed)
      VALUES (?, 0, 1, 0, 0, 0, 0, 0, 0)`,
    toText(name),
  )
  return Number(get(`SELECT id FROM ${table} WHERE name = ?`, toText(name))!.id)
}
