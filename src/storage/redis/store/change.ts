import { checkGuard, checkLease, leaseOf, type PreparedOp, wholeMs } from '../../store/commit.ts'
import { chunksOf } from '../../store/log-layout.ts'
import type { Guard } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Argument } from '../connection.ts'
import type { Keys } from '../keys.ts'
import { type Entry, entriesOf, expiringEntry, fieldOf, toUtf8 } from './entries.ts'

/** What the directory must have before the ops may be done. `tailOf` gives the end of the stamp of the put at a place. */
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

/** No two leases of a partition have one token. */
export function leaseEntry(keys: Keys, partition: string, token: number): Entry {
  return { set: keys.leases, member: `${toText(partition)}\0${token}` }
}

/** Guards and ops as the script `COMMIT` takes them. */
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
      return chunksOf(op.token, op.events).flatMap(({ count, layout, data }) => [
        'a',
        String(count),
        layout,
        data,
      ])
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

/** A commit of nothing but events, under fence and head or under nothing, as the script `APPEND` takes it. Undefined where it is another. */
export function encodeAppend(
  guards: readonly Guard[] = [],
  ops: readonly PreparedOp[],
): Argument[] | undefined {
  const [op, more] = ops
  const [fence, head] = guards
  if (op?.op !== 'append' || more || op.events.length === 0) return undefined
  const isGuarded = guards.length === 2 && fence?.guard === 'fence' && head?.guard === 'head'
  if (guards.length > 0 && !isGuarded) return undefined
  const args: Argument[] = [isGuarded ? `${fence.token}:${head.seq}` : '']
  for (const { count, layout, data } of chunksOf(op.token, op.events)) args.push(String(count), layout, data)
  return args
}

/** Throws the error of the guard or op that the script refused, as `Store` words it. */
export function throwRefusal(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
  answer: readonly unknown[],
): never {
  const [, place, now, head, token, owner, held, ends, seen] = answer as [
    number,
    number,
    number,
    number,
    number,
    Uint8Array,
    number,
    number,
    number,
  ]
  const current = {
    now,
    head,
    token,
    lease: held === 0 ? undefined : leaseOf(partition, fromText(toUtf8(owner)), held, ends),
    version: () => seen || undefined,
  }
  if (place >= 0) checkGuard(partition, guards[place]!, current)
  else checkLease(partition, ops, current)
  throw new Error(`Redis refused a commit to ${partition}, which holds by what it saw.`)
}
