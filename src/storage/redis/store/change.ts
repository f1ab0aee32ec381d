import { checkChange, guardedAppend, leaseOf, type PreparedOp, wholeMs } from '../../store/commit.ts'
import { chunksOf } from '../../store/log-layout.ts'
import type { Guard, LogEvent, PartitionState } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Argument } from '../connection.ts'
import type { Keys } from '../keys.ts'
import { type Entry, entriesOf, expiringEntry, fieldOf, toUtf8 } from './entries.ts'

/** The directory entries that must exist before the ops run. `tailOf` returns the end of a put's stamp. */
export function entriesFor(
  keys: Keys,
  partition: string,
  ops: readonly PreparedOp[],
  tailOf: (place: number) => string,
): Entry[] {
  const entries = ops.flatMap((op, i): Entry[] => {
    if (op.op === 'claim' || op.op === 'renew') {
      return [{ ...leaseEntry(keys, partition, op.token), ttlMs: wholeMs(op.ttlMs) }]
    }
    if (op.op !== 'put') return []
    const place = { collection: op.collection, partition, id: op.id, stamp: '' }
    const entries: Entry[] = entriesOf(keys, place, op.index)
    if (op.ttlMs !== undefined) entries.push({ ...expiringEntry(keys, place), ttlMs: wholeMs(op.ttlMs) })
    return entries.map((entry) => ({ ...entry, tail: tailOf(i) }))
  })
  return ops.some(({ op }) => op === 'append' || op === 'clear')
    ? [...entries, { set: keys.logs, member: toText(partition), ttlMs: 0 }]
    : entries
}

/** No two leases of a partition have the same token. */
export function leaseEntry(keys: Keys, partition: string, token: number): Entry {
  return { set: keys.leases, member: `${toText(partition)}\0${token}` }
}

/** Guards and ops as arguments of the script `COMMIT`. */
export function encodeChange(
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
  stampOf: (place: number) => string,
): Argument[] {
  return [...guards.flatMap(encodeGuard), '.', ...ops.flatMap((op, i) => encodeOp(op, stampOf(i)))]
}

function encodeOp(op: PreparedOp, stamp: string): Argument[] {
  switch (op.op) {
    case 'put': {
      const ttl = op.ttlMs === undefined ? '' : String(wholeMs(op.ttlMs))
      return ['p', fieldOf(op.collection, op.id), stamp, ttl, JSON.stringify(op.index), op.text]
    }
    case 'delete':
      return ['d', fieldOf(op.collection, op.id)]
    case 'append':
      return encodeEvents(op.token, op.events, 'a')
    case 'claim':
      return ['c', toText(op.owner), String(op.token), String(wholeMs(op.ttlMs))]
    case 'renew':
      return ['n', String(op.token), String(wholeMs(op.ttlMs))]
    case 'release':
      return ['x', String(op.token)]
    case 'clear':
      return ['z']
  }
}

const encodeEvents = (token: number, events: readonly LogEvent[], ...op: string[]): Argument[] =>
  chunksOf(token, events).flatMap(({ count, layout, data }) => [...op, String(count), layout, data])

function encodeGuard(guard: Guard): string[] {
  switch (guard.guard) {
    case 'version':
      return ['v', fieldOf(guard.collection, guard.id), String(guard.version)]
    case 'absent':
      return ['v', fieldOf(guard.collection, guard.id), '']
    case 'fence':
      return ['f', String(guard.token)]
    case 'free':
      return ['r']
    case 'head':
      return ['h', String(guard.seq)]
  }
}

/** The arguments of the script `APPEND`. Undefined for commits that it cannot do. */
export function encodeAppend(
  guards: readonly Guard[] = [],
  ops: readonly PreparedOp[],
): Argument[] | undefined {
  const append = guardedAppend(guards, ops)
  if (!append || append.op.events.length === 0) return undefined
  const { op, fence, head } = append
  if ((fence === undefined) !== (head === undefined)) return undefined
  return [fence === undefined ? '' : `${fence}:${head}`, ...encodeEvents(op.token, op.events)]
}

export type StateAnswer = readonly [
  ...[now: number, head: number, first: number, token: number, owner: Uint8Array, held: number, ends: number],
  ...unknown[],
]

export function readState(partition: string, answer: StateAnswer): PartitionState {
  const [now, head, firstRetained, token, owner, held, ends] = answer
  const lease = held === 0 ? undefined : leaseOf(partition, fromText(toUtf8(owner)), held, ends)
  return { head, firstRetained, token, lease, now }
}

/** Throws the error of the guard or op that made the script reject, in the words of `Store`. */
export function throwRefusal(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
  [place, seen, ...state]: readonly [place: number, seen: number, ...StateAnswer],
): never {
  const refused = place < 0 ? [] : [guards[place]!]
  const current = { ...readState(partition, state), version: () => seen || undefined }
  checkChange(partition, refused, place < 0 ? ops : [], current)
  throw new Error(`Redis rejected a commit to ${partition} whose conditions hold.`)
}
