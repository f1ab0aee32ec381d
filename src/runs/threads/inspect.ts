import { accessOf, type Principal, reaches } from '../../principal.ts'
import type { Store } from '../../storage/store/store.ts'
import { readThread, type ThreadRecord } from '../records/records.ts'

/** For who watches a server: how a thread stands in the store. */
export interface ThreadInspection {
  /** The last sequence number of the log, and the first that it still has. */
  readonly head: number
  readonly firstRetained: number
  /** The process that holds the thread, until when. Null where none does. */
  readonly lease: HeldLease | null
  /** The store's clock, in milliseconds since 1970. */
  readonly now: number
}

export interface HeldLease {
  /** The id of an engine, made new for each. */
  readonly holder: string
  /** The fencing token: the higher one is the later one. */
  readonly token: number
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** What the store knows of a thread beside its record, which `findThread` gave. */
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

/** How many threads with waiting runs, of whatever owner, are looked at. */
const MAX_QUEUED = 1_000

/** A principal's threads on which runs wait, those that wait longest first. */
export async function listQueued(
  store: Store,
  principal: Principal | null,
): Promise<readonly ThreadRecord[]> {
  const { docs } = await store.list('threads', { orderBy: 'queued', limit: MAX_QUEUED })
  const access = accessOf(principal)
  return docs.map(readThread).filter((thread) => reaches(access, thread) && !thread.deleting)
}
