import { concatBytes } from '../../../core/bytes.ts'
import { checkGuard, checkLease, guardedAppend, type PreparedOp, wholeMs } from '../../store/commit.ts'
import { chunksOf } from '../../store/log-layout.ts'
import type { Guard } from '../../store/store.ts'
import type { Row } from '../pool.ts'
import { keyOf, namesOf, toText } from '../text.ts'

/** The parameters of the function `commit`. */
export function encodeChange(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): readonly unknown[] {
  const data: Uint8Array[] = []
  const encoded = ops.map((op) => encodeOp(partition, op, data))
  return [
    keyOf(partition),
    namesOf(partition),
    JSON.stringify(guards.map(encodeGuard)),
    JSON.stringify(encoded),
    data.length === 0 ? null : concatBytes(data),
  ]
}

function encodeGuard(guard: Guard): object {
  if (guard.guard !== 'version' && guard.guard !== 'absent') return guard
  const { collection, id } = guard
  const version = guard.guard === 'absent' ? null : guard.version
  return { guard: 'version', collection: keyOf(collection), id: keyOf(id), version }
}

/** Appends the op's bytes to `data`. */
function encodeOp(partition: string, op: PreparedOp, data: Uint8Array[]): object {
  switch (op.op) {
    case 'put': {
      const { collection, id, text, index, ttlMs } = op
      return {
        op: 'put',
        collection: keyOf(collection),
        id: keyOf(id),
        names: namesOf(partition, id),
        value: text,
        fields: JSON.stringify(index),
        entries: Object.entries(index).map(([field, value]) => [keyOf(field), ...sortedBy(value)]),
        ttlMs: ttlMs === undefined ? null : wholeMs(ttlMs),
      }
    }
    case 'delete':
      return { op: 'delete', collection: keyOf(op.collection), id: keyOf(op.id) }
    case 'append': {
      const chunks = chunksOf(op.token, op.events)
      for (const chunk of chunks) data.push(chunk.data)
      return {
        op: 'append',
        chunks: chunks.map(({ count, layout, data }) => ({ count, layout, bytes: data.length })),
      }
    }
    case 'claim':
      return { op: 'claim', owner: toText(op.owner), token: op.token, ttlMs: wholeMs(op.ttlMs) }
    case 'renew':
      return { op: 'renew', token: op.token, ttlMs: wholeMs(op.ttlMs) }
    default:
      return op
  }
}

/** The value of an index field in `fields`. Strings sort after numbers. */
export const sortedBy = (value: string | number): [num: string, str: string] =>
  typeof value === 'number' ? [String(value), ''] : ['Infinity', keyOf(value)]

/**
 * The parameters of the function `append` for a fenced commit with one append in one chunk. Undefined for any
 * other commit.
 */
export function encodeAppend(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): readonly unknown[] | undefined {
  const append = guardedAppend(guards, ops)
  if (!append || !Number.isSafeInteger(append.fence) || !Number.isSafeInteger(append.head ?? 0))
    return undefined
  const { op, fence, head = null } = append
  const chunks = chunksOf(op.token, op.events)
  if (chunks.length !== 1) return undefined
  const { count, layout, data } = chunks[0]!
  return [keyOf(partition), fence, head, count, layout, data]
}

/** Throws the error of the guard or op that made the function `commit` reject, in the words of `Store`. */
export function throwRefusal(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
  { refused, place, seen }: Row,
): never {
  const found = seen === null ? undefined : Number(seen)
  const version = () => found
  const held = { partition, owner: '', token: 0, expiresAt: Number.POSITIVE_INFINITY }
  const current = { now: 0, head: found ?? 0, token: found ?? 0, version }
  if (refused === 'guard') {
    const guard = guards[Number(place)]!
    checkGuard(partition, guard, { ...current, lease: guard.guard === 'free' ? held : undefined })
  } else {
    checkLease(partition, [ops[Number(place)]!], { ...current, lease: undefined })
  }
  throw new Error(`Postgres rejected ${refused} ${place} of a commit whose conditions hold.`)
}
