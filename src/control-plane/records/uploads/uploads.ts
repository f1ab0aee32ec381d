import { claimLease, nextToken } from '../../../storage/coordination/leases.ts'
import { ConflictError, type Store } from '../../../storage/index.ts'
import { refusal } from '../../errors.ts'
import { retryConflicts } from '../docs.ts'
import {
  isIn,
  loadUpload,
  partitionOf,
  pathsInUse,
  putUpload,
  type StoredUpload,
  type UploadKey,
  type UploadRecord,
  unchanged,
  uploadsOfDeployment,
  uploadsOfOwner,
  uploadsToSweep,
} from './stored.ts'

/** Limits for what clients upload. */
export interface UploadLimits {
  /**
   * The total size of one deployment's uploads that is always allowed, in bytes. Older ones that no revision
   * needs are removed to make room. Default 419,430,400: two of the largest.
   */
  readonly deploymentBytes?: number | undefined
  /** The total size of one owner's uploads, in bytes. Default 1,073,741,824. */
  readonly ownerBytes?: number | undefined
  /** How long an upload waits for its revision, in milliseconds. Default: a day. */
  readonly keepMs?: number | undefined
}

const MIB = 1024 * 1024
/** The bytes of one log event, and the minimum that an upload counts as. */
const CHUNK_BYTES = MIB
/** How long an upload may be idle, and how long an interrupted one is kept, in milliseconds. */
const LEASE_MS = 10 * 60_000
const TOPIC = 'upload'

export type Uploads = ReturnType<typeof createUploads>

/** Clients' uploads. They are in the store, so that every instance can read them. */
export function createUploads(
  store: Store,
  now: () => number,
  { deploymentBytes = 400 * MIB, ownerBytes = 1_024 * MIB, keepMs = 24 * 60 * 60_000 }: UploadLimits = {},
) {
  const context: Context = { store, now, deploymentBytes, ownerBytes, keepMs }
  return {
    /**
     * Stores all of the body, or nothing. `bytes` is its maximum size. Throws 413 without room, and 409 if a
     * revision was created with it.
     */
    put: (
      key: UploadKey,
      owner: string | null,
      bytes: number,
      body: ReadableStream<Uint8Array>,
    ): Promise<void> => put(context, key, owner, bytes, body),

    /** Whether the upload exists. It can no longer be replaced. */
    take: (key: UploadKey): Promise<boolean> =>
      retryConflicts(async () => {
        const upload = await loadUpload(store, key)
        if (!upload || upload.record.count === 0) return false
        if (upload.record.isTaken) return true
        const ops = [putUpload({ ...upload.record, isTaken: true })]
        await store.commit(partitionOf(key), { guards: [unchanged(key, upload)], ops })
        return true
      }),

    /** The bytes of an upload. Undefined if it does not exist. */
    async open(key: UploadKey): Promise<ReadableStream<Uint8Array> | undefined> {
      const upload = await loadUpload(store, key)
      return upload && upload.record.count > 0 ? bytesOf(store, upload.record) : undefined
    },

    async removeAll(deploymentId: string): Promise<void> {
      // Includes uploads in progress, whose lease is dropped too.
      for (const { record } of await uploadsOfDeployment(store, deploymentId))
        await store.commit(partitionOf(record), { ops: [{ op: 'clear' }] })
    },

    /** Removes those that were not needed for `keepMs`. */
    sweep: (): Promise<void> => sweep(context),
  }
}

interface Context extends Required<UploadLimits> {
  readonly store: Store
  readonly now: () => number
}

async function put(
  context: Context,
  key: UploadKey,
  owner: string | null,
  bytes: number,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const { store, now, keepMs } = context
  const { partition, record, token } = await begin(context, key, owner, bytes)
  const guards = [{ guard: 'fence', token }] as const
  try {
    await makeRoom(context, record)
    let last = 0
    let count = 0
    let size = 0
    for await (const data of chunksOf(body)) {
      const { head } = await store.commit(partition, {
        guards,
        ops: [
          { op: 'append', token, events: [{ topic: TOPIC, data }] },
          { op: 'renew', token, ttlMs: LEASE_MS },
        ],
      })
      last = head
      count++
      size += data.length
    }
    const whole: UploadRecord = {
      ...record,
      bytes: Math.max(size, CHUNK_BYTES),
      first: last - count + 1,
      count,
      sweepAt: now() + keepMs,
    }
    await store.commit(partition, { guards, ops: [putUpload(whole), { op: 'release', token }] })
  } catch (error) {
    // If this fails too, it is swept later. The error to report is the upload's.
    await store.commit(partition, { guards, ops: [{ op: 'clear' }] }).catch(() => {})
    throw error
  }
}

/** Starts an upload that replaces the previous one, and counts it. */
async function begin({ store, now, keepMs }: Context, key: UploadKey, owner: string | null, bytes: number) {
  const partition = partitionOf(key)
  const [state, before] = await Promise.all([store.inspect(partition), loadUpload(store, key)])
  if (before?.record.isTaken) throw refusal(409, TAKEN)
  const createdAt = now()
  const record: UploadRecord = {
    ...key,
    owner,
    bytes: Math.max(bytes, CHUNK_BYTES),
    first: 0,
    count: 0,
    isTaken: false,
    createdAt,
    sweepAt: createdAt + Math.max(LEASE_MS, Math.min(keepMs, 60 * 60_000)),
  }
  const token = nextToken(state)
  try {
    await store.commit(partition, {
      guards: [{ guard: 'free' }, unchanged(key, before)],
      ops: [
        { op: 'clear' },
        putUpload(record),
        claimLease({ instance: 'upload', leaseTtlMs: LEASE_MS }, token),
      ],
    })
  } catch (error) {
    if (error instanceof ConflictError) throw refusal(409, UNDER_WAY)
    throw error
  }
  return { partition, record, token }
}

/** Counts after the upload was written: of several concurrent uploads, each counts the others. */
async function makeRoom(
  { store, deploymentBytes, ownerBytes }: Context,
  { deploymentId, uploadId, owner }: UploadRecord,
): Promise<void> {
  let all = await uploadsOfOwner(store, owner)
  const ofDeployment = () => all.filter(({ record }) => record.deploymentId === deploymentId)
  const problem = () => {
    if (sizeOf(ofDeployment()) > deploymentBytes) return tooMuch('this deployment', deploymentBytes)
    return sizeOf(all) > ownerBytes ? tooMuch('your deployments', ownerBytes) : undefined
  }
  if (!problem()) return
  const inUse = await pathsInUse(store, deploymentId)
  for (const upload of ofDeployment()) {
    const { record } = upload
    if (record.uploadId === uploadId || record.count === 0 || isIn(inUse, upload)) continue
    await remove(store, upload)
    all = all.filter((one) => one !== upload)
    if (!problem()) return
  }
  throw refusal(413, problem()!)
}

async function remove(store: Store, upload: StoredUpload): Promise<void> {
  const guards = [unchanged(upload.record, upload)]
  await store.commit(partitionOf(upload.record), { guards, ops: [{ op: 'clear' }] })
}

async function sweep({ store, now, keepMs }: Context): Promise<void> {
  const at = now()
  for (const upload of await uploadsToSweep(store)) {
    const { record } = upload
    if (record.sweepAt > at) return
    const isNeeded = record.isTaken && isIn(await pathsInUse(store, record.deploymentId), upload)
    try {
      if (!isNeeded) await remove(store, upload)
      else {
        const ops = [putUpload({ ...record, sweepAt: at + keepMs })]
        await store.commit(partitionOf(record), { guards: [unchanged(record, upload)], ops })
      }
    } catch (error) {
      // Another instance sweeps at the same time, or it is uploaded again.
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

function bytesOf(store: Store, { first, count, ...key }: UploadRecord): ReadableStream<Uint8Array> {
  let after = first - 1
  return new ReadableStream(
    {
      async pull(controller) {
        const batch = await store.read(partitionOf(key), { after, limit: 1 })
        if (batch.count === 0 || batch.first !== after + 1)
          throw new Error('The upload was removed while it was being read.')
        controller.enqueue(batch.bytes.slice(batch.offsets[0], batch.offsets[1]))
        after++
        if (after === first + count - 1) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

const TAKEN = 'A revision was already created from this upload. Request a new upload URL.'
const UNDER_WAY =
  'An upload to this URL is already in progress. Wait for it to finish, or request a new upload URL.'

const tooMuch = (whose: string, bytes: number): string =>
  `The uploads of ${whose} would exceed ${bytes} bytes. Delete deployments that you do not need, or wait until older uploads are removed.`

const sizeOf = (uploads: readonly StoredUpload[]): number =>
  uploads.reduce((sum, { record }) => sum + record.bytes, 0)

/** The bytes of a body in chunks of the same size; the last one is smaller. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  let chunk = new Uint8Array(CHUNK_BYTES)
  let filled = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      for (let at = 0; at < value.length; ) {
        const part = value.subarray(at, at + CHUNK_BYTES - filled)
        chunk.set(part, filled)
        filled += part.length
        at += part.length
        if (filled < CHUNK_BYTES) continue
        yield chunk
        // The store keeps the array that it was given.
        chunk = new Uint8Array(CHUNK_BYTES)
        filled = 0
      }
    }
    if (filled > 0) yield chunk.subarray(0, filled)
  } finally {
    // Stops the sender if the reader has stopped early.
    await reader.cancel().catch(() => {})
  }
}
