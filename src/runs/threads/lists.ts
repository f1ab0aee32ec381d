import { sleep } from '../../time.ts'
import type { RunContext } from '../context.ts'
import { listField, type ThreadOrder, type ThreadRecord } from '../records/records.ts'
import { threadsIndexed } from '../records/reindex.ts'

export interface ThreadListQuery {
  readonly owner: string | null
  readonly status?: ThreadRecord['status'] | undefined
  /** Default `updatedAt`. Ties are in the order of the thread ids. */
  readonly orderBy?: ThreadOrder | undefined
  readonly ascending?: boolean | undefined
  /** How many threads to leave out first. Default 0. */
  readonly offset?: number | undefined
  /** The most threads to give. Default: all. */
  readonly limit?: number | undefined
}

/** Threads in one call of the store. */
const PAGE = 200

/** An owner's threads, newest first unless asked otherwise. */
export async function* listThreads(
  { store }: RunContext,
  { owner, status, orderBy = 'updatedAt', ascending, offset = 0, limit }: ThreadListQuery,
): AsyncGenerator<ThreadRecord> {
  await threadsIndexed(store)
  // Threads of one status are in the order of their ids when they are ordered by it.
  const order = status !== undefined && orderBy === 'status' ? 'threadId' : orderBy
  const field = listField(owner, order, status)
  let left = limit ?? Number.POSITIVE_INFINITY
  let from: { readonly offset: number } | { readonly cursor: string } = { offset }
  while (left > 0) {
    const { docs, cursor } = await store.list('threads', {
      orderBy: field,
      descending: !ascending,
      limit: Math.min(left, PAGE),
      ...from,
    })
    for (const doc of docs) yield doc.value as unknown as ThreadRecord
    left -= docs.length
    if (cursor === undefined || left <= 0) return
    from = { cursor }
    // A store in memory answers at once, and a long list would hold up everyone else.
    await sleep(0)
  }
}

/** How many threads an owner has. */
export async function countThreads(
  { store }: RunContext,
  { owner, status }: Pick<ThreadListQuery, 'owner' | 'status'>,
): Promise<number> {
  await threadsIndexed(store)
  return store.count('threads', listField(owner, 'threadId', status))
}
