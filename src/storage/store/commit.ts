import { AgentwireError } from '../../core/errors.ts'
import { ConflictError, FencedError, UnavailableError } from '../errors.ts'
import type { Change, DocIndex, Guard, LeaseRecord, Op, PartitionChange } from './store.ts'

/** A validated op. The document of a `put` is JSON text. */
export type PreparedOp = Exclude<Op, { op: 'put' }> | PreparedPut

interface PreparedPut {
  readonly op: 'put'
  readonly collection: string
  readonly id: string
  readonly text: string
  readonly index: DocIndex
  readonly ttlMs?: number | undefined
}

/** The current state that a commit's guards and ops are checked against. */
export interface Current {
  readonly now: number
  readonly head: number
  readonly token: number
  readonly lease: LeaseRecord | undefined
  /** Undefined if the document is absent or expired. */
  version(collection: string, id: string): number | undefined
}

export function prepare(op: Op): PreparedOp {
  switch (op.op) {
    case 'put': {
      const { collection, id, value, index, ttlMs } = op
      const text = JSON.stringify(value)
      if (text === undefined) throw invalid(`Document ${id} has no JSON value.`)
      for (const [field, key] of Object.entries(index ?? {})) {
        if (typeof key === 'string' || Number.isFinite(key)) continue
        throw invalid(`Index field ${field} of document ${id} must be a string or a finite number.`)
      }
      return { op: 'put', collection, id, text, index: Object.freeze({ ...index }), ttlMs }
    }
    case 'append':
      for (const { data } of op.events) {
        // Not instanceof: the bytes may come from another realm.
        if (ArrayBuffer.isView(data) && data.length === data.byteLength) continue
        throw invalid('The data of an event must be a Uint8Array.')
      }
      return op
    case 'claim':
      if (!Number.isSafeInteger(op.token)) throw invalid('A fencing token must be a whole number.')
      return op
    default:
      return op
  }
}

/** The ops of a change. Throws if it was aborted before. */
export function prepareOps({ ops, signal }: Change): PreparedOp[] {
  if (signal?.aborted) {
    throw new UnavailableError('The commit was aborted.', { written: 'no', cause: signal.reason })
  }
  return ops.map(prepare)
}

/** Throws the error of the first guard or op that fails. */
export function checkChange(
  partition: string,
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
  current: Current,
): void {
  for (const guard of guards) checkGuard(partition, guard, current)
  checkLease(partition, ops, current)
}

interface GuardedAppend {
  readonly op: PreparedOp & { readonly op: 'append' }
  readonly fence: number | undefined
  readonly head: number | undefined
}

/**
 * Most commits are one append under a fence and a head, for which backends have a faster path. Undefined for
 * any other commit.
 */
export function guardedAppend(
  guards: readonly Guard[],
  ops: readonly PreparedOp[],
): GuardedAppend | undefined {
  const [op] = ops
  if (op?.op !== 'append' || ops.length > 1) return undefined
  let fence: number | undefined
  let head: number | undefined
  for (const guard of guards) {
    if (guard.guard === 'fence' && fence === undefined) fence = guard.token
    else if (guard.guard === 'head' && head === undefined) head = guard.seq
    else return undefined
  }
  return { op, fence, head }
}

export function checkGuard(partition: string, guard: Guard, current: Current): void {
  switch (guard.guard) {
    case 'version': {
      const version = current.version(guard.collection, guard.id)
      if (version === guard.version) return
      throw new ConflictError(
        `${guard.collection} ${guard.id} has version ${version ?? 'none'}, not ${guard.version}.`,
      )
    }
    case 'absent':
      if (current.version(guard.collection, guard.id) === undefined) return
      throw new ConflictError(`${guard.collection} ${guard.id} exists.`)
    case 'fence':
      checkFence(partition, guard.token, current.lease, current.now)
      return
    case 'free':
      if (!current.lease || current.lease.expiresAt <= current.now) return
      throw new ConflictError(`The lease of ${partition} is held by another owner.`)
    case 'head':
      if (current.head === guard.seq) return
      throw new ConflictError(`The log of ${partition} ends at ${current.head}, not ${guard.seq}.`)
  }
}

export function checkFence(
  partition: string,
  token: number,
  lease: LeaseRecord | undefined,
  now: number,
): void {
  if (lease?.token !== token || lease.expiresAt <= now) throw fencedError(partition)
}

/** Tracks the lease through the ops, so that a commit that would fail halfway is rejected completely. */
export function checkLease(partition: string, ops: readonly PreparedOp[], current: Current): void {
  let { token } = current
  let held = current.lease?.token
  for (const op of ops) {
    if (op.op === 'claim') {
      if (op.token <= token) {
        throw new ConflictError(`${partition} has issued tokens up to ${token}; ${op.token} is not higher.`)
      }
      held = token = op.token
    } else if (op.op === 'renew') {
      if (held !== op.token) throw fencedError(partition)
    } else if (op.op === 'clear' || (op.op === 'release' && held === op.token)) {
      held = undefined
    }
  }
}

export function leaseOf(partition: string, owner: string, token: number, expiresAt: number): LeaseRecord {
  return Object.freeze({ partition, owner, token, expiresAt })
}

/** Longer than any process lives, and far from the limits of databases. */
const MAX_TTL_MS = 1e15

export const wholeMs = (ms: number): number => Math.min(Math.ceil(ms), MAX_TTL_MS)

/** The change that listeners receive for a commit with these ops. */
export function changeBy(ops: readonly PreparedOp[]): PartitionChange {
  return {
    log: ops.some(({ op }) => op === 'append' || op === 'clear'),
    docs: ops.some(({ op }) => op !== 'append'),
  }
}

export function fencedError(partition: string): FencedError {
  return new FencedError(`The lease of ${partition} is no longer held with this token.`)
}

function invalid(message: string): AgentwireError {
  return new AgentwireError('invalid_argument', message)
}
