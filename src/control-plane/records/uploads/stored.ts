import type { Guard, Op, Store } from '../../../storage/index.ts'
import { listAll } from '../../../storage/store/pages.ts'
import * as docs from '../docs.ts'
import { loadDeployment, loadRevision, ofDeployment, ofOwner } from '../stored.ts'

export interface UploadKey {
  readonly deploymentId: string
  readonly uploadId: string
}

/** What the API calls `object_path` or `source_tarball_path`. */
export const pathOf = ({ deploymentId, uploadId }: UploadKey): string =>
  `uploads/${deploymentId}/${uploadId}.tar.gz`

export function uploadOfPath(path: string, deploymentId: string): UploadKey | undefined {
  const uploadId = /\/([0-9a-f-]{36})\.tar\.gz$/.exec(path)?.[1]
  const key = uploadId === undefined ? undefined : { deploymentId, uploadId }
  return key && pathOf(key) === path ? key : undefined
}

/** Each upload is a partition: one document, and its bytes in the log. */
export interface UploadRecord extends UploadKey {
  readonly owner: string | null
  /** The bytes that it counts as: its size, and the size of an upload in progress. */
  readonly bytes: number
  /** The log events with its bytes. None while it is being uploaded. */
  readonly first: number
  readonly count: number
  /** A revision was created with it, so it cannot be replaced. */
  readonly isTaken: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When a sweep checks whether it is still needed. */
  readonly sweepAt: number
}

export type StoredUpload = docs.Stored<UploadRecord>

const UPLOADS = 'uploads'
const SWEEP = 'sweepAt'

export const partitionOf = ({ deploymentId, uploadId }: UploadKey): string =>
  `upload:${deploymentId}:${uploadId}`

export const loadUpload = (store: Store, key: UploadKey): Promise<StoredUpload | undefined> =>
  docs.load(store, partitionOf(key), UPLOADS, key.uploadId)

export const putUpload = (record: UploadRecord): Op =>
  docs.put(UPLOADS, record.uploadId, record, {
    index: {
      [ofOwner(record.owner)]: record.createdAt,
      [ofDeployment(record.deploymentId)]: record.createdAt,
      [SWEEP]: record.sweepAt,
    },
  })

/** A guard that passes if an upload is as it was read, or still absent. */
export const unchanged = ({ uploadId }: UploadKey, read: StoredUpload | undefined): Guard =>
  docs.unchanged(UPLOADS, uploadId, read)

/** Oldest first. */
export const uploadsOfOwner = (store: Store, owner: string | null): Promise<readonly StoredUpload[]> =>
  allBy(store, ofOwner(owner))

/** Oldest first. */
export const uploadsOfDeployment = (store: Store, deploymentId: string): Promise<readonly StoredUpload[]> =>
  allBy(store, ofDeployment(deploymentId))

const allBy = async (store: Store, orderBy: string): Promise<readonly StoredUpload[]> =>
  (await listAll(store, UPLOADS, { orderBy })).map((doc) => docs.stored(doc))

/** Uploads to check, the earliest first. */
export const uploadsToSweep = async (store: Store): Promise<readonly StoredUpload[]> =>
  (await store.list(UPLOADS, { orderBy: SWEEP })).docs.map((doc) => docs.stored(doc))

/** The upload paths of a deployment's newest revision, its active one and those in progress. */
export async function pathsInUse(store: Store, deploymentId: string): Promise<ReadonlySet<string>> {
  const deployment = (await loadDeployment(store, deploymentId))?.record
  if (!deployment) return new Set()
  const { latestRevisionId, activeRevisionId, pending } = deployment
  const ids = [...new Set([latestRevisionId, activeRevisionId, ...pending])].filter((id) => id !== null)
  const revisions = await Promise.all(ids.map((id) => loadRevision(store, deploymentId, id)))
  return new Set(revisions.map((read) => read?.record.sourceRevisionConfig.source_tarball_path ?? ''))
}

export const isIn = (paths: ReadonlySet<string>, { record }: StoredUpload): boolean =>
  paths.has(pathOf(record))
