import { accessOf, type Principal, reaches } from '../../core/principal.ts'
import type { Store } from '../../storage/store/store.ts'
import { readThread, type ThreadRecord } from '../records/records.ts'

/** The state of a thread in the store, for monitoring. */
export interface ThreadInspection {
  /** The last sequence number of the log, and the first that it still has. */
  readonly head: number
  readonly firstRetained: number
  /** The process that holds the thread, and until when. Null if there is none. */
  readonly lease: HeldLease | null
  /** The store's clock, in milliseconds since 1970. */
  readonly now: number
}

export interface HeldLease {
  /** The id of an engine, new for each engine. */
  readonly holder: string
  /** The fencing token. Later holders have higher tokens. */
  readonly token: number
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** What the store knows about a thread in addition to its record from `findThread`. */
export async function inspectThread(
  store: Store,
  { threadId }: Pick<ThreadRecord, 'threadId'>,
): Promise<ThreadInspection> {
  const { head, firstRetained, lease, now } = await store.inspect(threadId)
  const held = lease && lease.expiresAt > now
  return {
    head,
    firstRetained,
    lease: held ? { holder: lease.owner, token: lease.token, expiresAt: lease.expiresAt } : null,
    now,
  }
}

/** The maximum of threads with waiting runs to read, for all owners. */
const MAX_QUEUED = 1_000

/** A principal's threads with waiting runs, longest waiting first. */
export async function listQueued(
  store: Store,
  principal: Principal | null,
): Promise<readonly ThreadRecord[]> {
  const { docs } = await store.list('threads', { orderBy: 'queued', limit: MAX_QUEUED })
  const access = accessOf(principal)
  return docs.map(readThread).filter((thread) => reaches(access, thread) && !thread.deleting)
}
