import { holdLease } from '../../storage/coordination/hold-lease.ts'
import { claimLease, isHeld, nextToken } from '../../storage/coordination/leases.ts'
import { retry } from '../../storage/coordination/retry.ts'
import { type Change, ConflictError, FencedError, type Op, type Store } from '../../storage/index.ts'
import { statusOf, statusOfRevision } from '../records/create-deployments.ts'
import type { DeploymentRecord, RevisionRecord } from '../records/records.ts'
import { type OpsOf, statusOp } from '../records/status-event.ts'
import {
  guardDeployment,
  guardRevision,
  loadDeployment,
  loadRevision,
  partitionOf,
  putDeployment,
  putRevision,
  type Stored,
  WORK,
} from '../records/stored.ts'

export interface LeaseContext {
  readonly store: Store
  /** The name of this worker, whose leases are those of its earlier process. */
  readonly instance: string
  readonly leaseMs: number
  readonly isHosted: boolean
  readonly opsOf: OpsOf | undefined
  /** Aborts when the worker closes. Then a store that is away is not waited for. */
  readonly closing: AbortSignal
}

/**
 * A deployment whose lease this process holds: only it changes what is under way. Its reads and changes wait for a store that is away, for as
 * long as a lease lasts.
 */
export interface Lease {
  readonly id: string
  /** Aborts when the lease is lost or given back. */
  readonly signal: AbortSignal
  /** Whether the lease was lost: another process may have it. */
  readonly isLost: boolean
  load(): Promise<Stored<DeploymentRecord> | undefined>
  loadRevision(id: string): Promise<RevisionRecord | undefined>
  /**
   * Changes the deployment, and one revision of it, in a commit that fails once the lease is lost (`FencedError`). `change` is called again
   * where a request has changed them meanwhile, and where the answer of the store was lost: so it gives the same for the same records.
   */
  change(
    revisionId: string | undefined,
    change: (deployment: DeploymentRecord, revision: RevisionRecord | undefined) => Changed,
  ): Promise<void>
  /** Any other commit while the lease is held. */
  commit(ops: readonly Op[], read?: Stored<DeploymentRecord>): Promise<void>
  /** Gives the lease back. With a deployment as it was read, throws `ConflictError` where it has changed since. */
  release(read?: Stored<DeploymentRecord>): Promise<void>
  /** Holds the lease no longer, without giving it back: it expires. */
  abandon(): void
}

export interface Changed {
  readonly deployment: DeploymentRecord
  /** With further entries of its history for each status it has passed. */
  readonly revision?: RevisionRecord | undefined
}

/** Takes the lease of a deployment. Undefined where another process holds it. */
export async function claimDeployment(
  context: LeaseContext,
  id: string,
  takesBack = false,
): Promise<Lease | undefined> {
  const { store, instance, leaseMs, isHosted, opsOf, closing } = context
  const partition = partitionOf(id)
  const before = await store.inspect(partition)
  const held = isHeld(before) ? before.lease : undefined
  if (held && !(takesBack && held.owner === instance)) return undefined
  const token = nextToken(before)
  const claimedAt = performance.now()
  try {
    await store.commit(partition, {
      guards: [held ? { guard: 'fence', token: held.token } : { guard: 'free' }],
      ops: [claimLease({ instance, leaseTtlMs: leaseMs }, token)],
    })
  } catch (error) {
    if (error instanceof ConflictError || error instanceof FencedError) return undefined
    throw error
  }

  const fence = { guard: 'fence', token } as const
  const renewal: Change = { guards: [fence], ops: [{ op: 'renew', token, ttlMs: leaseMs }] }
  const renew = () => store.commit(partition, renewal)
  const lease = holdLease({ ttlMs: leaseMs, renew, claimedAt })

  async function commit(
    ops: readonly Op[],
    read?: Stored<DeploymentRecord>,
    revision?: Stored<RevisionRecord>,
  ): Promise<void> {
    const guards = [
      fence,
      ...(read ? [guardDeployment(read)] : []),
      ...(revision ? [guardRevision(revision)] : []),
    ]
    await lease.guard(() => store.commit(partition, { guards, ops }))
  }

  /** What fails because the store is away is tried again for as long as a lease lasts, so that no build is lost with it. */
  const retried = <T>(attempt: () => Promise<T>): Promise<T> =>
    retry(attempt, {
      isRetryable: (error) => !(error instanceof FencedError),
      forMs: leaseMs,
      firstMs: leaseMs / 100,
      maxMs: leaseMs / 10,
      signals: [lease.signal, closing],
    })

  return {
    id,
    signal: lease.signal,
    get isLost() {
      return lease.isLost
    },
    load: () => retried(() => loadDeployment(store, id)),
    loadRevision: async (revisionId) => (await retried(() => loadRevision(store, id, revisionId)))?.record,
    change(revisionId, change) {
      /** How long the history is that a commit without an answer has left, if it has landed. Only the holder of the lease adds to it. */
      let sent: number | undefined
      return retried(async () => {
        for (;;) {
          const read = await loadDeployment(store, id)
          const revision = revisionId === undefined ? undefined : await loadRevision(store, id, revisionId)
          if (!read) throw new FencedError('The deployment is gone.')
          const length = revision?.record.history.length ?? 0
          if (sent !== undefined && length >= sent) return
          const changed = change(read.record, revision?.record)
          const grown = changed.revision?.history.length ?? 0
          const ops = changeOps(read.record, revision?.record, changed)
          try {
            await commit(ops, read, revision)
            return
          } catch (error) {
            if (error instanceof ConflictError) continue
            if (grown > length) sent = grown
            throw error
          }
        }
      })
    },
    commit,
    async release(read) {
      // A worker with another kind of deployer has listed it as work.
      const unlisted = read && WORK in read.index ? [putDeployment(read.record, isHosted)] : []
      await commit([...unlisted, { op: 'release', token }], read)
      lease.end()
    },
    abandon: lease.end,
  }

  function changeOps(
    deployment: DeploymentRecord,
    revision: RevisionRecord | undefined,
    changed: Changed,
  ): readonly Op[] {
    const passed = changed.revision?.history.slice(revision?.history.length ?? 0) ?? []
    const events = [
      ...(deployment.status === changed.deployment.status ? [] : [statusOf(changed.deployment)]),
      ...passed.map((entry) => statusOfRevision({ ...changed.revision!, history: [entry] })),
    ]
    return [
      ...(changed.deployment === deployment ? [] : [putDeployment(changed.deployment, isHosted)]),
      ...(changed.revision ? [putRevision(changed.revision)] : []),
      ...(events.length > 0 ? [statusOp(events)] : []),
      ...events.flatMap((event) => opsOf?.(event) ?? []),
    ]
  }
}
