import { uuid7 } from '../../core/ids.ts'
import { changedWithin } from '../../storage/coordination/changes.ts'
import { ConflictError, type Guard, type Store } from '../../storage/index.ts'
import { noDeployment, refusal } from '../errors.ts'
import { retryConflicts, unchanged } from './docs.ts'
import { listDeployments, listRevisions } from './lists.ts'
import { takeNames } from './names.ts'
import type {
  DeploymentFilter,
  DeploymentRecord,
  NewRevision,
  PageRequest,
  RevisionRecord,
  RevisionStatus,
} from './records.ts'
import {
  DEPLOYMENTS,
  guardDeployment,
  guardRevision,
  loadDeployment,
  loadRevision,
  type OpsOf,
  ofType,
  partitionOf,
  putDeployment,
  putRevision,
  type StatusEvent,
  statusOp,
} from './stored.ts'

export interface DeploymentsOptions {
  readonly store: Store
  /** Makes the workers look for work. */
  readonly wake: () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether the deployer's servers end with their process, so that a worker holds their deployments. */
  readonly isHosted: boolean
  readonly opsOf?: OpsOf | undefined
}

export type Deployments = ReturnType<typeof createDeployments>

/** The records of deployments and revisions. Every change is one commit, and wakes the workers. */
export function createDeployments(options: DeploymentsOptions) {
  const { store, now } = options
  return {
    /** Undefined for an unknown deployment, and for one with another owner. */
    async find(owner: string | null, id: string): Promise<DeploymentRecord | undefined> {
      const read = await loadDeployment(store, id)
      return read && read.record.owner === owner ? read.record : undefined
    },

    async findRevision(
      { owner, id }: Pick<DeploymentRecord, 'id' | 'owner'>,
      revisionId: string,
    ): Promise<RevisionRecord | undefined> {
      const read = await loadRevision(store, id, revisionId)
      return read && read.record.owner === owner ? read.record : undefined
    },

    list: (owner: string | null, filter: DeploymentFilter, page: PageRequest) =>
      listDeployments(store, owner, filter, page),

    listRevisions: (
      { id }: DeploymentRecord,
      statuses: readonly RevisionStatus[] | undefined,
      page: PageRequest,
    ) => listRevisions(store, id, statuses, page),

    /** How many of the owner's deployments have this `deployment_type`. */
    countOfType: (owner: string | null, type: string): Promise<number> =>
      store.count(DEPLOYMENTS, ofType(owner, type)),

    /** Throws 409 if the owner has a deployment with this name, or with this agent and environment. */
    create: (given: DeploymentRecord, first: NewRevision | undefined): Promise<DeploymentRecord> =>
      create(options, given, first),

    /**
     * Changes a deployment, and creates a revision if `change` returns one. `change` runs again after a
     * conflict. Throws 404 for a removed deployment.
     */
    update: (id: string, change: Change): Promise<DeploymentRecord> =>
      retryConflicts(() => update(options, id, change)),

    /** Stops a revision that is not final. Throws 400 for a final one. */
    interrupt: (deployment: DeploymentRecord, revisionId: string): Promise<RevisionRecord> =>
      retryConflicts(() => interrupt(options, deployment.id, revisionId)),

    /** Makes the workers remove a deployment. `check` is called with what is removed, and may throw. */
    remove: (given: DeploymentRecord, check?: (deployment: DeploymentRecord) => void): Promise<void> =>
      retryConflicts(async () => {
        const read = await loadDeployment(store, given.id)
        if (!read || isLeaving(read.record)) return
        check?.(read.record)
        const deployment: DeploymentRecord = { ...read.record, status: 'AWAITING_DELETE', updatedAt: now() }
        await write(options, deployment, undefined, [statusOf(deployment)], [guardDeployment(read)])
      }),

    /** Resolves when the deployment or one of its revisions changes, or the time is up. */
    changed: (deploymentId: string, ms: number, signal: AbortSignal | undefined): Promise<void> =>
      changedWithin(store, partitionOf(deploymentId), ms, ...(signal ? [signal] : [])),
  }
}

type Change = (deployment: DeploymentRecord) => {
  readonly deployment: DeploymentRecord
  readonly revision?: NewRevision | undefined
}

async function write(
  { store, wake, isHosted, opsOf }: DeploymentsOptions,
  deployment: DeploymentRecord,
  revision: RevisionRecord | undefined,
  events: readonly StatusEvent[],
  guards: readonly Guard[],
): Promise<void> {
  await store.commit(partitionOf(deployment.id), {
    guards,
    ops: [
      putDeployment(deployment, isHosted),
      ...(revision ? [putRevision(revision)] : []),
      ...(events.length > 0 ? [statusOp(events)] : []),
      ...events.flatMap((event) => opsOf?.(event) ?? []),
    ],
  })
  wake()
}

async function create(
  options: DeploymentsOptions,
  given: DeploymentRecord,
  first: NewRevision | undefined,
): Promise<DeploymentRecord> {
  const { store, now } = options
  const at = now()
  const earlier = given.fingerprint === undefined ? undefined : await loadDeployment(store, given.id)
  if (earlier) return sameRequest(earlier.record, given)
  await takeNames(store, given, at)
  const { deployment, revision } = withRevision(given, first, at)
  const events = [statusOf(deployment), ...(revision ? [statusOfRevision(revision)] : [])]
  try {
    await write(options, deployment, revision, events, [unchanged(DEPLOYMENTS, deployment.id, undefined)])
    return deployment
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    // A request with the same `Idempotency-Key` was first.
    const winner = await loadDeployment(store, deployment.id)
    if (!winner) throw error
    return sameRequest(winner.record, given)
  }
}

async function update(options: DeploymentsOptions, id: string, change: Change): Promise<DeploymentRecord> {
  const { store, now } = options
  const read = await loadDeployment(store, id)
  if (!read || isLeaving(read.record)) throw noDeployment(id)
  const at = now()
  const changed = change(read.record)
  if (changed.revision?.id !== undefined) {
    const known = await loadRevision(store, id, changed.revision.id)
    if (known) {
      sameRequest(known.record, changed.revision)
      return read.record
    }
  }
  const next = { ...changed.deployment, updatedAt: Math.max(at, read.record.updatedAt) }
  const { deployment, revision } = withRevision(next, changed.revision, at)
  const events = revision ? [statusOfRevision(revision)] : []
  await write(options, deployment, revision, events, [guardDeployment(read)])
  return deployment
}

async function interrupt(
  options: DeploymentsOptions,
  deploymentId: string,
  revisionId: string,
): Promise<RevisionRecord> {
  const { store, now } = options
  const [owner, read] = await Promise.all([
    loadDeployment(store, deploymentId),
    loadRevision(store, deploymentId, revisionId),
  ])
  if (!owner || !read) throw noDeployment(deploymentId)
  const { status } = read.record
  if (!owner.record.pending.includes(revisionId)) {
    const detail = `Revision ID ${revisionId} is ${status}: only a revision in progress can be interrupted.`
    throw refusal(400, detail)
  }
  const revision = { ...read.record, isInterrupted: true, updatedAt: now() }
  await write(options, owner.record, revision, [], [guardDeployment(owner), guardRevision(read)])
  return revision
}

/** Throws 409 if an earlier request with this `Idempotency-Key` was different. */
function sameRequest<T extends { readonly fingerprint?: string | undefined }>(
  made: T,
  given: { readonly fingerprint?: string | undefined },
): T {
  if (made.fingerprint === given.fingerprint) return made
  throw refusal(409, 'This Idempotency-Key was used for another request. Use a new key for a new request.')
}

/** Whether it is being deleted. */
export const isLeaving = ({ status }: DeploymentRecord): boolean =>
  status === 'AWAITING_DELETE' || status === 'AWAITING_FINAL_DELETE'

export const statusOf = ({ id, status, updatedAt }: DeploymentRecord, reason?: string): StatusEvent => ({
  deploymentId: id,
  status,
  at: updatedAt,
  ...(reason !== undefined && { reason }),
})

export const statusOfRevision = ({ id, deploymentId, history }: RevisionRecord): StatusEvent => {
  const { status, at, reason } = history.at(-1)!
  return {
    deploymentId,
    revisionId: id,
    status: status as RevisionRecord['status'],
    at,
    ...(reason !== undefined && { reason }),
  }
}

function withRevision(
  deployment: DeploymentRecord,
  given: NewRevision | undefined,
  at: number,
): { readonly deployment: DeploymentRecord; readonly revision?: RevisionRecord } {
  if (!given) return { deployment }
  const { id = uuid7(at), builtBy, ...rest } = given
  const revision: RevisionRecord = {
    source: deployment.source,
    ...rest,
    id,
    deploymentId: deployment.id,
    owner: deployment.owner,
    number: deployment.revisionCount + 1,
    status: 'CREATING',
    history: [{ status: 'CREATING', at }],
    ...(builtBy?.artifact !== undefined && { prepared: builtBy.prepared, artifact: builtBy.artifact }),
    attempts: 0,
    createdAt: at,
    updatedAt: at,
  }
  return {
    deployment: {
      ...deployment,
      sourceRevisionConfig: revision.sourceRevisionConfig,
      latestRevisionId: id,
      pending: [...deployment.pending, id],
      revisionCount: revision.number,
    },
    revision,
  }
}
