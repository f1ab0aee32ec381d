import { FencedError } from '../errors.ts'
import type { Op, PartitionState, Store } from '../store/store.ts'

interface Holder {
  readonly store: Store
  readonly instance: string
  readonly leaseTtlMs: number
}

export const isHeld = ({ lease, now }: PartitionState): boolean =>
  lease !== undefined && lease.expiresAt > now

export const nextToken = ({ token, now }: PartitionState): number => Math.max(token + 1, now)

export const claimLease = ({ instance, leaseTtlMs }: Omit<Holder, 'store'>, token: number): Op => ({
  op: 'claim',
  owner: instance,
  token,
  ttlMs: leaseTtlMs,
})

/**
 * Makes a lease expire in `ttlMs` milliseconds. Throws `FencedError` if it was lost. An expired lease that no
 * other process has taken is held again: its holder was late because the store was busy.
 */
export async function renewLease(
  store: Store,
  partition: string,
  token: number,
  ttlMs: number,
): Promise<void> {
  await store.commit(partition, { ops: [{ op: 'renew', token, ttlMs }] })
}

/**
 * Renews a lease before an action that the store cannot guard. Throws `FencedError` if the lease was lost, or
 * if the response took so long (for example because this process was suspended) that it may have been lost
 * since.
 */
export async function assertLease(
  { store, leaseTtlMs }: Omit<Holder, 'instance'>,
  partition: string,
  token: number,
): Promise<void> {
  const askedAt = performance.now()
  await renewLease(store, partition, token, leaseTtlMs)
  if (performance.now() - askedAt >= leaseTtlMs)
    throw new FencedError('The lease may have expired in the meantime.')
}

/** Makes a lease expire now, so that any process can take over unfinished work. */
export const expireLease = (store: Store, partition: string, token: number): Promise<void> =>
  renewLease(store, partition, token, 0)

/** Releases a lease in one commit with `ops`. Does nothing if the lease was lost. */
export async function releaseLease(
  store: Store,
  partition: string,
  token: number,
  ops: readonly Op[] = [],
): Promise<void> {
  try {
    await store.commit(partition, {
      guards: [{ guard: 'fence', token }],
      ops: [...ops, { op: 'release', token }],
    })
  } catch (error) {
    if (!(error instanceof FencedError)) throw error
  }
}
