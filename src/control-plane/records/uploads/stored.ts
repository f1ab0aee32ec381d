import type { Doc, Guard, Op, Store } from '../../../storage/index.ts'
import { listAll } from '../../../storage/store/pages.ts'
import { loadDeployment, loadRevision, ofDeployment, ofOwner, recordOf } from '../stored.ts'
import { pathOf, type UploadPlace } from './place.ts'

/** Each upload is a partition: one document, and its bytes in the log. */
export interface UploadRecord extends UploadPlace {
  readonly owner: string | null
  /** What it counts for: its size, and that of what is being uploaded. */
  readonly bytes: number
  /** The events of the log that have its bytes. None as long as it is uploaded. */
  readonly first: number
  readonly count: number
  /** A revision was made with it: nothing replaces it any more. */
  readonly isTaken: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When it is looked at whether somebody needs it. */
  readonly sweepAt: number
}

export interface StoredUpload {
  readonly record: UploadRecord
  readonly version: number
}

const UPLOADS = 'uploads'
const SWEEP = 'sweepAt'

export const partitionOf = ({ deploymentId, uploadId }: UploadPlace): string =>
  `upload:${deploymentId}:${uploadId}`

export async function loadUpload(store: Store, place: UploadPlace): Promise<StoredUpload | undefined> {
  const doc = await store.get(partitionOf(place), UPLOADS, place.uploadId)
  return doc && stored(doc)
}

export const putUpload = (record: UploadRecord): Op => ({
  op: 'put',
  collection: UPLOADS,
  id: record.uploadId,
  value: { ...record },
  index: {
    [ofOwner(record.owner)]: record.createdAt,
    [ofDeployment(record.deploymentId)]: record.createdAt,
    [SWEEP]: record.sweepAt,
  },
})

/** That an upload is as it was read, or still not there. */
export const unchanged = ({ uploadId: id }: UploadPlace, read: StoredUpload | undefined): Guard =>
  read
    ? { guard: 'version', collection: UPLOADS, id, version: read.version }
    : { guard: 'absent', collection: UPLOADS, id }

/** Oldest first. */
export const uploadsOfOwner = (store: Store, owner: string | null): Promise<readonly StoredUpload[]> =>
  allBy(store, ofOwner(owner))

/** Oldest first. */
export const uploadsOfDeployment = (store: Store, deploymentId: string): Promise<readonly StoredUpload[]> =>
  allBy(store, ofDeployment(deploymentId))

const allBy = async (store: Store, orderBy: string) =>
  (await listAll(store, UPLOADS, { orderBy })).map(stored)

/** Those that have to be looked at first. */
export async function uploadsToSweep(store: Store): Promise<readonly StoredUpload[]> {
  return (await store.list(UPLOADS, { orderBy: SWEEP })).docs.map(stored)
}

const stored = (doc: Doc): StoredUpload => ({ record: recordOf<UploadRecord>(doc), version: doc.version })

/** The paths that the newest revision of a deployment, the one that serves and those under way are made of. */
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
