import { AgentwireError } from '../../core/errors.ts'
import type { Doc, DocPage, ListQuery } from './store.ts'

/** Where a page of documents ended: the sort key, then what breaks ties. */
export interface Position {
  /** Absent if the order is by partition and id alone. */
  readonly key: string | number | undefined
  readonly partition: string
  readonly id: string
}

export function positionOf(
  doc: Pick<Doc, 'partition' | 'id' | 'index'>,
  orderBy: string | undefined,
): Position {
  return { key: orderBy === undefined ? undefined : doc.index[orderBy], partition: doc.partition, id: doc.id }
}

/** Numbers before strings; strings by code unit; ties by partition, then id. */
export function comparePositions(a: Position, b: Position): number {
  return compareKeys(a.key, b.key) || compareKeys(a.partition, b.partition) || compareKeys(a.id, b.id)
}

/** Numbers before strings, and strings by UTF-16 code unit. Undefined equals everything. */
export function compareKeys(a: string | number | undefined, b: string | number | undefined): number {
  if (a === b || a === undefined || b === undefined) return 0
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -1 : 1
}

export function encodeCursor({ key, partition, id }: Position): string {
  const bytes = new TextEncoder().encode(JSON.stringify([partition, id, key]))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

export function decodeCursor(cursor: string): Position {
  let parts: unknown
  try {
    const bytes = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    parts = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0))))
  } catch (cause) {
    throw invalidCursor(cause)
  }
  if (!Array.isArray(parts)) throw invalidCursor()
  const [partition, id, key] = parts as unknown[]
  const keyed = typeof key === 'string' || typeof key === 'number'
  if (typeof partition !== 'string' || typeof id !== 'string' || !(keyed || key === null))
    throw invalidCursor()
  return { partition, id, key: keyed ? key : undefined }
}

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000

export function pageSize({ limit = DEFAULT_LIMIT }: ListQuery): number {
  return Math.min(Math.max(Math.floor(limit), 1), MAX_LIMIT)
}

/**
 * The number of documents that the page skips. Throws if the query has an offset and options other than the
 * order.
 */
export function pageOffset({ offset = 0, orderBy, partition, where, cursor }: ListQuery): number {
  if (offset === 0) return 0
  const isOrdered = orderBy !== undefined && partition === undefined && !where && cursor === undefined
  if (isOrdered && Number.isSafeInteger(offset) && offset > 0) return offset
  const message = 'offset must be an integer, and can only be combined with orderBy, descending and limit.'
  throw new AgentwireError('invalid_argument', message)
}

/** Makes a page from its documents and one more, if there are more. */
export function toPage(found: readonly Doc[], query: ListQuery): DocPage {
  const size = pageSize(query)
  const docs = found.slice(0, size)
  if (found.length <= size) return { docs }
  return { docs, cursor: encodeCursor(positionOf(docs[size - 1]!, query.orderBy)) }
}

function invalidCursor(cause?: unknown): AgentwireError {
  return new AgentwireError('invalid_argument', 'This is not a cursor that list returned.', { cause })
}
