import {
  changeBy,
  checkChange,
  guardedAppend,
  leaseOf,
  type PreparedOp,
  wholeMs,
} from '../../store/commit.ts'
import { type Chunk, chunksOf } from '../../store/log-layout.ts'
import type { Committed, Guard } from '../../store/store.ts'
import { toText } from '../../text.ts'
import type { Connection } from '../connection.ts'
import {
  addPartition,
  loadPartition,
  type Partition,
  PLACE,
  type Place,
  putDocument,
  removeDocuments,
  savePartition,
} from './documents.ts'

export interface CommitResult extends Committed {
  /** The partition's counter. Undefined if the commit only touched the log. */
  readonly docsChanged: number | undefined
}

type Draft = { -readonly [K in keyof Partition]: Partition[K] } & { id: number }

export function commit(
  connection: Connection,
  name: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): CommitResult {
  const now = Date.now()
  const appended = appendGuarded(connection, name, guards, ops, now)
  if (appended) return appended
  const partition = loadPartition(connection, name)
  const version = (collection: string, id: string) =>
    versionOf(connection, [toText(collection), toText(name), toText(id)], now)
  checkChange(name, guards, ops, { ...partition, now, version })
  if (ops.length === 0) return { head: partition.head, versions: [], docsChanged: undefined }
  const draft: Draft = { ...partition, id: partition.id ?? addPartition(connection, name) }
  const versions: number[] = []
  for (const op of ops) apply(connection, name, draft, op, now, versions)
  const { docs } = changeBy(ops)
  if (docs) draft.docsChanged += 1
  savePartition(connection, draft)
  return { head: draft.head, versions, docsChanged: docs ? draft.docsChanged : undefined }
}

/**
 * Most commits are one append by the lease holder, which takes two statements. Returns undefined and writes
 * nothing for any other commit, or if a guard fails.
 */
function appendGuarded(
  connection: Connection,
  name: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
  now: number,
): CommitResult | undefined {
  const append = guardedAppend(guards, ops)
  if (!append) return undefined
  const { op, fence, head: guarded } = append
  const fenced = fence === undefined ? '' : ' AND lease_token = ? AND lease_until > ?'
  const atHead = guarded === undefined ? '' : ' AND head = ?'
  const chunks = chunksOf(op.token, op.events)
  const size = chunks.reduce((sum, { data }) => sum + data.length, 0)
  const row = connection.get(
    `UPDATE {partitions} SET head = head + ?, bytes = bytes + ? WHERE name = ?${fenced}${atHead}
      RETURNING id, head, bytes`,
    ...[op.events.length, size, toText(name)],
    ...(fence === undefined ? [] : [fence, now]),
    ...(guarded === undefined ? [] : [guarded]),
  )
  if (row === undefined) return undefined
  const head = Number(row.head)
  const before = { id: Number(row.id), head: head - op.events.length, bytes: Number(row.bytes) - size }
  insertChunks(connection, before, chunks, now)
  return { head, versions: [], docsChanged: undefined }
}

function versionOf({ get }: Connection, place: Place, now: number): number | undefined {
  const row = get(
    `SELECT version FROM {documents} WHERE ${PLACE} AND (expires_at IS NULL OR expires_at > ?)`,
    ...[...place, now],
  )
  return row && Number(row.version)
}

function apply(
  connection: Connection,
  name: string,
  draft: Draft,
  op: PreparedOp,
  now: number,
  versions: number[],
): void {
  const until = (ttlMs: number) => now + wholeMs(ttlMs)
  const placeOf = (collection: string, id: string) => [toText(collection), toText(name), toText(id)] as const
  switch (op.op) {
    case 'put': {
      const { collection, id, index, text, ttlMs } = op
      const version = Math.max(draft.version + 1, now)
      draft.version = version
      versions.push(version)
      const expiresAt = ttlMs === undefined ? null : until(ttlMs)
      putDocument(connection, placeOf(collection, id), { version, expiresAt, index, text })
      break
    }
    case 'delete':
      removeDocuments(connection, PLACE, ...placeOf(op.collection, op.id))
      break
    case 'append':
      insertChunks(connection, draft, chunksOf(op.token, op.events), now)
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
      removeDocuments(connection, 'partition = ?', toText(name))
      connection.run('DELETE FROM {log} WHERE partition = ?', draft.id)
      draft.firstRetained = draft.head + 1
      draft.lease = undefined
      break
  }
}

/** Advances `at` past what it inserts. */
function insertChunks(
  { run }: Connection,
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
      `INSERT INTO {log} (partition, last, first, starts, ends, at, layout, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[at.id, at.head, first, starts, at.bytes, now, layout, data],
    )
  }
}
