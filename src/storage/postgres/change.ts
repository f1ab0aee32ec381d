import { checkGuard, checkLease, type PreparedOp } from '../commit.ts'
import type { DocIndex, Guard, LogEvent, Ring } from '../store.ts'
import type { Row } from './database.ts'
import { chunksOf } from './layout.ts'
import { keyOf, namesOf, toText } from './text.ts'

/** A commit in the form that the function `commit` takes. */
export interface EncodedChange {
  readonly guards: string
  readonly ops: string
  /** The bytes of all events, one after the other. */
  readonly data: Uint8Array | null
}

/** Longer than any process lives, and far from the bounds of a bigint. */
const MAX_TTL_MS = 1e15

export function encodeChange(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): EncodedChange {
  const events = ops.flatMap((op) => (op.op === 'append' ? op.events : []))
  return {
    guards: JSON.stringify(guards.map(encodeGuard)),
    ops: JSON.stringify(ops.map((op) => encodeOp(partition, op))),
    data: events.length === 0 ? null : joinData(events),
  }
}

function encodeGuard(guard: Guard): object {
  switch (guard.guard) {
    case 'version':
    case 'absent': {
      const { collection, id } = guard
      const version = guard.guard === 'absent' ? null : guard.version
      return { guard: 'version', collection: keyOf(collection), id: keyOf(id), version }
    }
    default:
      return guard
  }
}

function encodeOp(partition: string, op: PreparedOp): object {
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
        entries: entriesOf(index).map(([field, num, str]) => [field, String(num), str]),
        ttlMs: ttlMs === undefined ? null : wholeMs(ttlMs),
      }
    }
    case 'delete':
      return { op: 'delete', collection: keyOf(op.collection), id: keyOf(op.id) }
    case 'append':
      return { op: 'append', chunks: chunksOf(op.token, op.events) }
    case 'claim':
      return { op: 'claim', owner: toText(op.owner), token: op.token, ttlMs: wholeMs(op.ttlMs) }
    case 'renew':
      return { op: 'renew', token: op.token, ttlMs: wholeMs(op.ttlMs) }
    default:
      return op
  }
}

/** Each field as `fields` keeps it. Numbers come before strings, so all strings have the number Infinity. */
export function entriesOf(index: DocIndex): [field: string, num: number, str: string][] {
  return Object.entries(index).map(([field, value]) => [keyOf(field), ...placeOf(value)])
}

export function placeOf(value: string | number): [num: number, str: string] {
  return typeof value === 'number' ? [value, ''] : [Number.POSITIVE_INFINITY, keyOf(value)]
}

const wholeMs = (ms: number): number => Math.min(Math.ceil(ms), MAX_TTL_MS)

function joinData(events: readonly LogEvent[]): Uint8Array {
  const whole = new Uint8Array(events.reduce((size, { data }) => size + data.length, 0))
  let at = 0
  for (const { data } of events) {
    whole.set(data, at)
    at += data.length
  }
  return whole
}

/** Throws the error of the guard or op that the function `commit` refused, as `Store` words it. */
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
  throw new Error(`Postgres refused ${refused} ${place} of a commit, which holds by what it saw.`)
}

export function ringFor(ops: readonly PreparedOp[]): Ring {
  return {
    log: ops.some(({ op }) => op === 'append' || op === 'clear'),
    docs: ops.some(({ op }) => op !== 'append'),
  }
}
