import { uuid7 } from '../../ids.ts'
import { isOwnedBy } from '../../principal.ts'
import { changedWithin } from '../../storage/coordination/changes.ts'
import { ConflictError, type Op, type Store } from '../../storage/index.ts'
import { noDeployment, refusal } from '../errors.ts'
import type { Deployments, NewRevision } from './deployments.ts'
import { retryConflicts } from './docs.ts'
import { listDeployments, listRevisions } from './lists.ts'
import { takeNames } from './names.ts'
import type { DeploymentRecord, RevisionRecord } from './records.ts'
import { type OpsOf, type StatusEvent, statusOp } from './status-event.ts'
import {
  DEPLOYMENTS,
  guardDeployment,
  guardRevision,
  loadDeployment,
  loadRevision,
  ofType,
  partitionOf,
  putDeployment,
  putRevision,
} from './stored.ts'

export interface DeploymentsOptions {
  readonly store: Store
  /** Has the workers look for work. */
  readonly wake: () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether the deployer's servers end with their process, so that a worker keeps them. */
  readonly isHosted: boolean
  readonly opsOf?: OpsOf | undefined
}

export function createDeployments(options: DeploymentsOptions): Deployments {
  const { store, wake, now, isHosted, opsOf } = options

  const told = (events: readonly StatusEvent[]): readonly Op[] => [
    statusOp(events),
    ...events.flatMap((event) => opsOf?.(event) ?? []),
  ]

  async function write(
    deployment: DeploymentRecord,
    revision: RevisionRecord | undefined,
    events: readonly StatusEvent[],
    guards: Parameters<Store['commit']>[1]['guards'],
  ): Promise<void> {
    const puts = [putDeployment(deployment, isHosted), ...(revision ? [putRevision(revision)] : [])]
    await store.commit(partitionOf(deployment.id), {
      guards: guards ?? [],
      ops: [...puts, ...(events.length > 0 ? told(events) : [])],
    })
    wake()
  }

  return {
    async find(owner, id) {
      const read = await loadDeployment(store, id)
      return read && isOwnedBy(read.record.owner, owner) ? read.record : undefined
    },
    async findRevision({ owner, id }, revisionId) {
      const read = await loadRevision(store, id, revisionId)
      return read && isOwnedBy(read.record.owner, owner) ? read.record : undefined
    },
    list: (owner, filter, page) => listDeployments(store, owner, filter, page),
    listRevisions: ({ id }, statuses, page) => listRevisions(store, id, statuses, page),
    countOfType: (owner, type) => store.count(DEPLOYMENTS, ofType(owner, type)),

    async create(given, first) {
      const at = now()
      const earlier = given.fingerprint === undefined ? undefined : await loadDeployment(store, given.id)
      if (earlier) return sameRequest(earlier.record, given)
      await takeNames(store, given, at)
      const { deployment, revision } = first ? withRevision(given, first, at) : { deployment: given }
      const events = [statusOf(deployment), ...(revision ? [statusOfRevision(revision)] : [])]
      const absent = { guard: 'absent', collection: DEPLOYMENTS, id: deployment.id } as const
      try {
        await write(deployment, revision, events, [absent])
        return deployment
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
        // A request with the same `Idempotency-Key` was first.
        const winner = await loadDeployment(store, deployment.id)
        if (!winner) throw error
        return sameRequest(winner.record, given)
      }
    },

    update: (id, change) =>
      retryConflicts(async () => {
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
        const { deployment, revision } = changed.revision
          ? withRevision(next, changed.revision, at)
          : { deployment: next }
        await write(deployment, revision, revision ? [statusOfRevision(revision)] : [], [
          guardDeployment(read),
        ])
        return deployment
      }),

    interrupt: (deployment, revisionId) =>
      retryConflicts(async () => {
        const [owner, read] = await Promise.all([
          loadDeployment(store, deployment.id),
          loadRevision(store, deployment.id, revisionId),
        ])
        if (!owner || !read) throw noDeployment(deployment.id)
        const { status } = read.record
        if (!owner.record.pending.includes(revisionId)) {
          const detail = `Revision ID ${revisionId} is ${status}: only a revision that is under way can be interrupted.`
          throw refusal(400, detail)
        }
        const revision = { ...read.record, isInterrupted: true, updatedAt: now() }
        await write(owner.record, revision, [], [guardDeployment(owner), guardRevision(read)])
        return revision
      }),

    remove: (given, check) =>
      retryConflicts(async () => {
        const read = await loadDeployment(store, given.id)
        if (!read || isLeaving(read.record)) return
        check?.(read.record)
        const deployment: DeploymentRecord = { ...read.record, status: 'AWAITING_DELETE', updatedAt: now() }
        await write(deployment, undefined, [statusOf(deployment)], [guardDeployment(read)])
      }),

    changed: (deploymentId, ms, signal) =>
      changedWithin(store, partitionOf(deploymentId), ms, ...(signal ? [signal] : [])),
  }
}

/** What an earlier request with the same `Idempotency-Key` has made. Throws 409 where that was another request. */
function sameRequest<T extends { readonly fingerprint?: string | undefined }>(
  made: T,
  given: { readonly fingerprint?: string | undefined },
): T {
  if (made.fingerprint === given.fingerprint) return made
  throw refusal(409, 'This Idempotency-Key was used for another request. Use a new key for a new request.')
}

/** Its deletion was asked for. */
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

function withRevision(deployment: DeploymentRecord, given: NewRevision, at: number) {
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
