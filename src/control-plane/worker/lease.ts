import { holdLease } from '../../storage/coordination/hold-lease.ts'
import { claimLease, isHeld, nextToken } from '../../storage/coordination/leases.ts'
import { retry, retryOnConflict } from '../../storage/coordination/retry.ts'
import { ConflictError, FencedError, type Op } from '../../storage/index.ts'
import { statusOf, statusOfRevision } from '../records/create-deployments.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../records/records.ts'
import {
  guardDeployment,
  guardRevision,
  loadDeployment,
  loadRevision,
  partitionOf,
  putDeployment,
  putRevision,
  type Stored,
  statusOp,
  WORK,
} from '../records/stored.ts'
import type { WorkerContext } from './context.ts'

/** The fields that a commit replaces, in a deployment and in one of its revisions. */
export interface Changed {
  readonly deployment?: Partial<DeploymentRecord> | undefined
  readonly revision?: Partial<RevisionRecord> | undefined
  /** The statuses that the revision passes through, and their reason. */
  readonly passes?: readonly RevisionStatus[] | undefined
  readonly reason?: string | undefined
}

/**
 * A deployment whose lease this process holds: only the holder changes work in progress. Reads and changes
 * are retried for as long as a lease lasts, so that a store outage costs no build. Commits throw
 * `FencedError` if the lease was lost.
 *
 * The callback of a change runs again after a conflict with a request and after a lost response of the store,
 * so it must return the same result for the same records.
 */
export type Lease = NonNullable<Awaited<ReturnType<typeof claimDeployment>>>

/** Takes a deployment's lease. Undefined if another process holds it. */
export async function claimDeployment(context: WorkerContext, id: string, takesBack = false) {
  const claim = await claimToken(context, id, takesBack)
  if (!claim) return undefined
  const { store, isHosted } = context
  const leased: Leased = { context, id, ...claim }
  const { lease, token } = claim
  return {
    context,
    id,
    /** Aborts when the lease is lost or released. */
    signal: lease.signal,
    /** Whether the lease was lost, so that another process may have it. */
    get isLost() {
      return lease.isLost
    },
    load: (): Promise<Stored<DeploymentRecord> | undefined> =>
      retried(leased, () => loadDeployment(store, id)),
    loadRevision: async (revisionId: string): Promise<RevisionRecord | undefined> =>
      (await retried(leased, () => loadRevision(store, id, revisionId)))?.record,
    change: (change: (deployment: DeploymentRecord) => Partial<DeploymentRecord>): Promise<void> =>
      write(leased, undefined, (deployment) => ({ deployment: change(deployment) })),
    changeRevision: (
      revisionId: string,
      change: (deployment: DeploymentRecord, revision: RevisionRecord) => Changed,
    ): Promise<void> => write(leased, revisionId, (deployment, revision) => change(deployment, revision!)),
    commit: (ops: readonly Op[]): Promise<void> => commit(leased, ops),
    /** Throws `ConflictError` if the given deployment has changed since it was read. */
    async release(read?: Stored<DeploymentRecord>): Promise<void> {
      // A worker with another kind of deployer has listed it as work.
      const unlisted = read && WORK in read.index ? [putDeployment(read.record, isHosted)] : []
      await commit(leased, [...unlisted, { op: 'release', token }], read)
      lease.end()
    },
    /** Stops renewing the lease without releasing it, so that it expires. */
    abandon: lease.end,
  }
}

interface Leased {
  readonly context: WorkerContext
  readonly id: string
  readonly token: number
  readonly lease: ReturnType<typeof holdLease>
}

async function claimToken(
  { store, instance, times: { leaseMs } }: WorkerContext,
  id: string,
  takesBack: boolean,
): Promise<Pick<Leased, 'token' | 'lease'> | undefined> {
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
  const renew = () =>
    store.commit(partition, {
      guards: [{ guard: 'fence', token }],
      ops: [{ op: 'renew', token, ttlMs: leaseMs }],
    })
  return { token, lease: holdLease({ ttlMs: leaseMs, renew, claimedAt }) }
}

async function commit(
  { context, id, token, lease }: Leased,
  ops: readonly Op[],
  read?: Stored<DeploymentRecord>,
  revision?: Stored<RevisionRecord>,
): Promise<void> {
  const guards = [
    { guard: 'fence', token } as const,
    ...(read ? [guardDeployment(read)] : []),
    ...(revision ? [guardRevision(revision)] : []),
  ]
  await lease.guard(() => context.store.commit(partitionOf(id), { guards, ops }))
}

const retried = <T>({ context, lease }: Leased, attempt: () => Promise<T>): Promise<T> =>
  retry(attempt, {
    isRetryable: (error) => !(error instanceof FencedError),
    forMs: context.times.leaseMs,
    firstMs: context.times.leaseMs / 100,
    maxMs: context.times.leaseMs / 10,
    signals: [lease.signal, context.closing],
  })

function write(
  leased: Leased,
  revisionId: string | undefined,
  change: (deployment: DeploymentRecord, revision: RevisionRecord | undefined) => Changed,
): Promise<void> {
  const { context, id } = leased
  // The length of the history after a commit whose response was lost. Only the lease holder adds to it.
  let sent: number | undefined
  const attempt = async (): Promise<void> => {
    const read = await loadDeployment(context.store, id)
    if (!read) throw new FencedError('The deployment no longer exists.')
    const revision = revisionId === undefined ? undefined : await loadRevision(context.store, id, revisionId)
    const length = revision?.record.history.length ?? 0
    if (sent !== undefined && length >= sent) return
    const changed = change(read.record, revision?.record)
    try {
      await commit(leased, opsOfChange(context, read.record, revision?.record, changed), read, revision)
    } catch (error) {
      const added = changed.passes?.length ?? 0
      if (added > 0 && !(error instanceof ConflictError)) sent = length + added
      throw error
    }
  }
  return retried(leased, () => retryOnConflict(attempt))
}

function opsOfChange(
  { now, isHosted, opsOf }: WorkerContext,
  before: DeploymentRecord,
  beforeRevision: RevisionRecord | undefined,
  { deployment: fields, revision: revisionFields, passes, reason }: Changed,
): readonly Op[] {
  const at = now()
  const deployment = { ...before, ...fields }
  const passed = (passes ?? []).map((status) => ({ status, at, ...(reason !== undefined && { reason }) }))
  const revision = beforeRevision && {
    ...beforeRevision,
    ...(passes && {
      status: passes.at(-1) ?? beforeRevision.status,
      history: [...beforeRevision.history, ...passed],
      updatedAt: at,
    }),
    ...revisionFields,
  }
  const events = [
    ...(deployment.status === before.status ? [] : [statusOf(deployment)]),
    ...passed.map((entry) => statusOfRevision({ ...revision!, history: [entry] })),
  ]
  return [
    ...(fields ? [putDeployment(deployment, isHosted)] : []),
    ...(revision ? [putRevision(revision)] : []),
    ...(events.length > 0 ? [statusOp(events)] : []),
    ...events.flatMap((event) => opsOf?.(event) ?? []),
  ]
}
