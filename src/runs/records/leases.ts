import { FencedError } from '../../storage/errors.ts'
import type { Op, Store } from '../../storage/store/store.ts'

/**
 * Renews a lease, so that the caller may do what the store cannot guard. Throws `FencedError` when the lease was lost, and when
 * the answer took so long, as after a suspension of this process, that it may have been lost since.
 */
export async function assertLease(
  { store, leaseTtlMs }: { readonly store: Store; readonly leaseTtlMs: number },
  threadId: string,
  token: number,
): Promise<void> {
  const askedAt = Date.now()
  await store.commit(threadId, {
    guards: [{ guard: 'fence', token }],
    ops: [{ op: 'renew', token, ttlMs: leaseTtlMs }],
  })
  if (Date.now() - askedAt >= leaseTtlMs) throw new FencedError('The lease may have expired meanwhile.')
}

/** Lets a lease expire at once, so that any process may take over what its holder could not finish. */
export async function expireLease(store: Store, threadId: string, token: number): Promise<void> {
  await store.commit(threadId, {
    guards: [{ guard: 'fence', token }],
    ops: [{ op: 'renew', token, ttlMs: 0 }],
  })
}

/** Releases a lease, in one commit with `ops`. Does nothing when the lease was lost. */
export async function releaseLease(
  store: Store,
  threadId: string,
  token: number,
  ops: readonly Op[] = [],
): Promise<void> {
  try {
    await store.commit(threadId, {
      guards: [{ guard: 'fence', token }],
      ops: [...ops, { op: 'release', token }],
    })
  } catch (error) {
    if (!(error instanceof FencedError)) throw error
  }
}
