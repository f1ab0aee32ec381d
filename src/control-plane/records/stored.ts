import { listedFor } from '../../principal.ts'
import type { Doc, DocIndex, Guard, Json, Op, Store } from '../../storage/index.ts'
import type { DeploymentRecord, RevisionRecord } from './records.ts'

/** Where the records are kept. A deployment and its revisions are one partition, so that one commit changes both. */
export const DEPLOYMENTS = 'deployments'
export const REVISIONS = 'revisions'

export const partitionOf = (deploymentId: string): string => `deployment:${deploymentId}`

/** A record as it was read, with the version that a change of it is guarded by. */
export interface Stored<T> {
  readonly record: T
  readonly version: number
  readonly index: DocIndex
}

/** An owner as a part of a name in the store. */
export const ownerKey = (owner: string | null): string => (owner === null ? '' : `=${owner}`)

/** The fields that deployments are listed and counted by. */
export const ofOwner = (owner: string | null): string => `of:${ownerKey(owner)}`
export const ofStatus = (owner: string | null, status: string): string =>
  `status:${status}:${ownerKey(owner)}`
export const ofType = (owner: string | null, type: string): string => `type:${type}:${ownerKey(owner)}`
export const ofDeployment = (deploymentId: string): string => `of:${deploymentId}`
/** The field of deployments that a worker has to look at. */
export const WORK = 'work'

/** Revisions of one millisecond stay in the order of their numbers. */
const REVISIONS_PER_MS = 1_000

export async function loadDeployment(
  store: Store,
  id: string,
): Promise<Stored<DeploymentRecord> | undefined> {
  return stored(await store.get(partitionOf(id), DEPLOYMENTS, id))
}

export async function loadRevision(
  store: Store,
  deploymentId: string,
  id: string,
): Promise<Stored<RevisionRecord> | undefined> {
  return stored(await store.get(partitionOf(deploymentId), REVISIONS, id))
}

export const recordOf = <T>(doc: Doc): T => doc.value as unknown as T

const stored = <T>(doc: Doc | undefined): Stored<T> | undefined =>
  doc && { record: recordOf<T>(doc), version: doc.version, index: doc.index }

/** The fields of a deployment in the lists of its owner. */
function ownerFields({ owner, createdAt, sourceConfig, status }: DeploymentRecord): DocIndex {
  const type = sourceConfig.deployment_type ?? 'prod'
  const fields = listedFor(owner).flatMap((one) => [ofOwner(one), ofStatus(one, status), ofType(one, type)])
  return Object.fromEntries(fields.map((field) => [field, createdAt]))
}

/** A deployment that an earlier version has written, in the lists of this one. */
export function relisted(doc: Doc): Op {
  const record = recordOf<DeploymentRecord>(doc)
  const { [WORK]: work } = doc.index
  const index = { ...(work !== undefined && { [WORK]: work }), ...ownerFields(record) }
  return { op: 'put', collection: DEPLOYMENTS, id: record.id, value: doc.value, index }
}

/** `isHosted` says that a worker keeps what serves it, and has to look at it even when nothing is to do. */
export function putDeployment(record: DeploymentRecord, isHosted: boolean): Op {
  const { id, status, pending, retiring, activeRevisionId } = record
  const isIdle = status === 'READY' && pending.length === 0 && retiring.length === 0
  const index: DocIndex = {
    ...ownerFields(record),
    ...((!isIdle || (isHosted && activeRevisionId !== null)) && { [WORK]: record.updatedAt }),
  }
  return { op: 'put', collection: DEPLOYMENTS, id, value: record as unknown as Json, index }
}

export const putRevision = (record: RevisionRecord): Op => ({
  op: 'put',
  collection: REVISIONS,
  id: record.id,
  value: record as unknown as Json,
  index: {
    [ofDeployment(record.deploymentId)]:
      record.createdAt * REVISIONS_PER_MS + (record.number % REVISIONS_PER_MS),
  },
})

export const guardDeployment = ({
  record: { id },
  version,
}: Pick<Stored<DeploymentRecord>, 'record' | 'version'>): Guard => ({
  guard: 'version',
  collection: DEPLOYMENTS,
  id,
  version,
})

export const guardRevision = ({ record: { id }, version }: Stored<RevisionRecord>): Guard => ({
  guard: 'version',
  collection: REVISIONS,
  id,
  version,
})
