import type { DocIndex, Guard, LogEvent, Op, Store } from '../../storage/index.ts'
import { load, put, recordOf, type Stored, unchanged } from './docs.ts'
import type { DeploymentRecord, RevisionRecord } from './records.ts'

export { recordOf, type Stored }

/** A deployment and its revisions are one partition, so that one commit changes both. */
export const DEPLOYMENTS = 'deployments'
export const REVISIONS = 'revisions'

export const partitionOf = (deploymentId: string): string => `deployment:${deploymentId}`

/** An owner as a part of a name in the store. */
export const ownerKey = (owner: string | null): string => (owner === null ? '' : `=${owner}`)

/** The fields that deployments are listed and counted by. */
export const ofOwner = (owner: string | null): string => `of:${ownerKey(owner)}`
export const ofStatus = (owner: string | null, status: string): string =>
  `status:${status}:${ownerKey(owner)}`
export const ofType = (owner: string | null, type: string): string => `type:${type}:${ownerKey(owner)}`
export const ofDeployment = (deploymentId: string): string => `of:${deploymentId}`
/** The field of deployments that a worker has to process. */
export const WORK = 'work'

/** Revisions created in the same millisecond are ordered by their numbers. */
const REVISIONS_PER_MS = 1_000

export const loadDeployment = (store: Store, id: string): Promise<Stored<DeploymentRecord> | undefined> =>
  load(store, partitionOf(id), DEPLOYMENTS, id)

export const loadRevision = (
  store: Store,
  deploymentId: string,
  id: string,
): Promise<Stored<RevisionRecord> | undefined> => load(store, partitionOf(deploymentId), REVISIONS, id)

function ownerFields({ owner, createdAt, sourceConfig, status }: DeploymentRecord): DocIndex {
  const type = sourceConfig.deployment_type ?? 'prod'
  const fields = [ofOwner(owner), ofStatus(owner, status), ofType(owner, type)]
  return Object.fromEntries(fields.map((field) => [field, createdAt]))
}

/** `isHosted`: a worker holds its servers, and has to process it even if there is nothing to do. */
export function putDeployment(record: DeploymentRecord, isHosted: boolean): Op {
  const { id, status, pending, retiring, activeRevisionId } = record
  const isIdle = status === 'READY' && pending.length === 0 && retiring.length === 0
  const index: DocIndex = {
    ...ownerFields(record),
    ...((!isIdle || (isHosted && activeRevisionId !== null)) && { [WORK]: record.updatedAt }),
  }
  return put(DEPLOYMENTS, id, record, { index })
}

export const putRevision = (record: RevisionRecord): Op => {
  const order = record.createdAt * REVISIONS_PER_MS + (record.number % REVISIONS_PER_MS)
  return put(REVISIONS, record.id, record, { index: { [ofDeployment(record.deploymentId)]: order } })
}

export const guardDeployment = (read: Pick<Stored<DeploymentRecord>, 'record' | 'version'>): Guard =>
  unchanged(DEPLOYMENTS, read.record.id, read)

export const guardRevision = (read: Stored<RevisionRecord>): Guard =>
  unchanged(REVISIONS, read.record.id, read)

/** A status change, as the log of the deployment's partition stores it and as webhooks send it. */
export interface StatusEvent {
  readonly deploymentId: string
  /** Absent if the status is the deployment's. */
  readonly revisionId?: string | undefined
  /** `DELETED` is a deployment's last status. */
  readonly status: DeploymentRecord['status'] | RevisionRecord['status'] | 'DELETED'
  /** Milliseconds since 1970. */
  readonly at: number
  readonly reason?: string | undefined
}

/** Further ops for the commit of a change, such as those of a webhook. */
export type OpsOf = (event: StatusEvent) => readonly Op[]

export const STATUS_TOPIC = 'status'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The events are not fenced by their token: the guards of their commit decide. */
export const statusOp = (events: readonly StatusEvent[]): Op => ({
  op: 'append',
  token: 0,
  events: events.map(
    (event): LogEvent => ({ topic: STATUS_TOPIC, data: encoder.encode(JSON.stringify(event)) }),
  ),
})

export const readStatusEvent = (data: Uint8Array): StatusEvent => JSON.parse(decoder.decode(data))
