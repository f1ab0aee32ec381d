import { leaseOf } from '../../store/commit.ts'
import type { LeaseRecord } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Connection, Row } from '../connection.ts'

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
