import { changeBy, checkGuard, checkLease, leaseOf, type PreparedOp, wholeMs } from '../../store/commit.ts'
import { type Chunk, chunksOf } from '../../store/log-layout.ts'
import type { Committed, Guard } from '../../store/store.ts'
import { toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import { putDocument, removeDocument, removePartition } from './documents.ts'
import { addPartition, loadPartition, type Partition, savePartition } from './partitions.ts'

export interface CommitResult extends Committed {
  /** Of the partition; undefined where the commit touched nothing but the log. */
  readonly docsChanged: number | undefined
}

type Of = (table: string) => string
type Draft = { -readonly [K in keyof Partition]: Partition[K] } & { id: number }

/** Runs in a transaction, so nothing is written where it throws. */
export function commit(
  connection: Connection,
  of: Of,
  name: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): CommitResult {
  const now = Date.now()
  const [first] = ops
  if (first?.op === 'append' && ops.length === 1) {
    const appended = appendGuarded(connection, of, name, guards, first, now)
    if (appended) return appended
  }
  const partition = loadPartition(connection, of('partitions'), name)
  const version = (collection: string, id: string) => versionOf(connection, of, name, collection, id, now)
  const current = { now, head: partition.head, token: partition.token, lease: partition.lease, version }
  for (const guard of guards) checkGuard(name, guard, current)
  checkLease(name, ops, current)
  if (ops.length === 0) return { head: partition.head, versions: [], docsChanged: undefined }
  const id = partition.id ?? addPartition(connection, of('partitions'), name)
  const draft: Draft = { ...partition, id }
  const versions: number[] = []
  for (const op of ops) apply(connection, of, name, draft, op, now, versions)
  const { docs } = changeBy(ops)
  if (docs) draft.docsChanged += 1
  savePartition(connection, of('partitions'), draft)
  return { head: draft.head, versions, docsChanged: docs ? draft.docsChanged : undefined }
}

/**
 * Most commits are one append by the holder of the lease, which takes two statements. Gives undefined, and has written nothing,
 * where the commit is another or a guard does not hold.
 */
function appendGuarded(
  connection: Connection,
  of: Of,
  name: string,
  guards: readonly Guard[],
  { token, events }: PreparedOp & { op: 'append' },
  now: number,
): CommitResult | undefined {
  const conditions: string[] = []
  const values: number[] = []
  for (const guard of guards) {
    if (guard.guard === 'fence') {
      conditions.push(' AND lease_token = ? AND lease_until > ?')
      values.push(guard.token, now)
    } else if (guard.guard === 'head') {
      conditions.push(' AND head = ?')
      values.push(guard.seq)
    } else {
      return undefined
    }
  }
  const chunks = chunksOf(token, events)
  const size = chunks.reduce((sum, { data }) => sum + data.length, 0)
  const row = connection.get(
    `UPDATE ${of('partitions')} SET head = head + ?, bytes = bytes + ? WHERE name = ?${conditions.join('')} RETURNING id, head, bytes`,
    ...[events.length, size, toText(name), ...values],
  )
  if (row === undefined) return undefined
  const head = Number(row.head)
  const before = { id: Number(row.id), head: head - events.length, bytes: Number(row.bytes) - size }
  insertChunks(connection, of, before, chunks, now)
  return { head, versions: [], docsChanged: undefined }
}

function versionOf(
  { get }: Connection,
  of: Of,
  partition: string,
  collection: string,
  id: string,
  now: number,
): number | undefined {
  const row = get(
    `SELECT version FROM ${of('documents')}
      WHERE collection = ? AND partition = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)`,
    ...[toText(collection), toText(partition), toText(id), now],
  )
  return row && Number(row.version)
}

function apply(
  connection: Connection,
  of: Of,
  name: string,
  draft: Draft,
  op: PreparedOp,
  now: number,
  versions: number[],
): void {
  const until = (ttlMs: number) => now + wholeMs(ttlMs)
  const partition = toText(name)
  switch (op.op) {
    case 'put': {
      draft.version = Math.max(draft.version + 1, now)
      versions.push(draft.version)
      const { text, index } = op
      const place = { partition, collection: toText(op.collection), id: toText(op.id) }
      const expiresAt = op.ttlMs === undefined ? null : until(op.ttlMs)
      putDocument(connection, of, { ...place, version: draft.version, expiresAt, index, text })
      break
    }
    case 'delete':
      removeDocument(connection, of, toText(op.collection), partition, toText(op.id))
      break
    case 'append':
      insertChunks(connection, of, draft, chunksOf(op.token, op.events), now)
      break
    case 'claim':
      draft.token = op.token
      draft.lease = leaseOf(name, op.owner, op.token, until(op.ttlMs))
      break
    case 'renew':
      draft.lease = leaseOf(name, draft.lease!.owner, op.token, until(op.ttlMs))
      break
    case 'release':
      if (draft.lease?.token === op.token) draft.lease = undefined
      break
    case 'clear':
      removePartition(connection, of, partition)
      connection.run(`DELETE FROM ${of('log')} WHERE partition = ?`, draft.id)
      draft.firstRetained = draft.head + 1
      draft.lease = undefined
      break
  }
}

/** Moves `at` on behind what it inserts. */
function insertChunks(
  { run }: Connection,
  of: Of,
  at: { readonly id: number; head: number; bytes: number },
  chunks: readonly Chunk[],
  now: number,
): void {
  for (const { count, layout, data } of chunks) {
    const first = at.head + 1
    const starts = at.bytes
    at.head += count
    at.bytes += data.length
    run(
      `INSERT INTO ${of('log')} (partition, last, first, starts, ends, at, layout, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[at.id, at.head, first, starts, at.bytes, now, layout, data],
    )
  }
}
