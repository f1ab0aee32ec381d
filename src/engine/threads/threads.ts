import { type Access, reaches } from '../../core/principal.ts'
import { listFitting, recordsOf } from '../../storage/store/pages.ts'
import { checkpointerOf, type RunContext, readerOf } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { noSuchRun, noSuchThread } from '../errors.ts'
import {
  loadThread,
  loadThreads,
  loadWithState,
  newThread,
  type RunRecord,
  readRun,
  type ThreadRecord,
  versioned,
} from '../records/records.ts'

/** A thread, and the access of the caller. */
export interface OwnedThread extends Access {
  readonly threadId: string
}

/**
 * The thread. Undefined if the caller has none with this id. On a server without authentication, a thread
 * that only exists in the checkpointer (created by other software on the same database) counts, too.
 */
export async function findThread(context: RunContext, asked: OwnedThread): Promise<ThreadRecord | undefined> {
  const thread = (await loadThread(context.store, asked.threadId))?.record
  return thread ? ownThread(thread, asked) : savedThread(context, asked)
}

/**
 * The same for up to 1,000 threads, in the requested order. Their records are read at once. Threads that are
 * being deleted are among them.
 */
export async function findThreads(
  context: RunContext,
  asked: readonly OwnedThread[],
): Promise<readonly (ThreadRecord | undefined)[]> {
  const records = await loadThreads(
    context.store,
    asked.map(({ threadId }) => threadId),
  )
  const found: (ThreadRecord | undefined)[] = []
  for (const [at, one] of asked.entries()) {
    const thread = records[at]
    found.push(thread ? (reaches(one, thread) ? thread : undefined) : await savedThread(context, one))
  }
  return found
}

/**
 * The thread if the caller may see it. Threads without access and threads that are being deleted look
 * unknown.
 */
export const ownThread = (thread: ThreadRecord, access: Access): ThreadRecord | undefined =>
  reaches(access, thread) && !thread.deleting ? thread : undefined

/** A thread that has a state but no record. */
export async function savedThread(
  context: RunContext,
  { threadId, ...access }: OwnedThread,
): Promise<ThreadRecord | undefined> {
  if (!reaches(access, newThread(threadId, null, 0))) return undefined
  const checkpointer = checkpointerOf(context, readerOf(context, null))
  const configurable = { thread_id: threadId, checkpoint_ns: '' }
  const tuple = await saverInTime(context, checkpointer.getTuple({ configurable }))
  if (!tuple) return undefined
  const at = Date.parse(tuple.checkpoint.ts) || 0
  return newThread(threadId, null, at)
}

export interface OwnedRun extends OwnedThread {
  readonly runId: string
}

/** A thread and one of its runs, read together. */
export interface FoundRun {
  readonly thread: ThreadRecord
  /** Undefined if the thread has none with this id. */
  readonly run: RunRecord | undefined
}

/**
 * Undefined if the caller has no such thread, or if the thread only exists in the checkpointer, because it
 * then has no runs.
 */
export async function findRun(
  { store }: Pick<RunContext, 'store'>,
  { threadId, runId, ...access }: OwnedRun,
): Promise<FoundRun | undefined> {
  const { read, docs } = await loadWithState(store, threadId, { collection: 'runs', id: runId })
  const thread = read && ownThread(read.record, access)
  return thread && { thread, run: versioned(docs[0], readRun)?.record }
}

/** A run of an owner's thread. Throws `no_such_run`. */
export async function requireRun(
  context: RunContext,
  asked: OwnedRun,
): Promise<FoundRun & { readonly run: RunRecord }> {
  const { thread, run } = (await findRun(context, asked)) ?? {}
  if (thread && run) return { thread, run }
  throw noSuchRun()
}

export async function getRun(context: RunContext, run: OwnedRun): Promise<RunRecord | undefined> {
  return (await findRun(context, run))?.run
}

/** Which runs of a thread to list. */
export interface RunListQuery {
  /** Selects runs. Default: all. */
  readonly accept?: ((run: RunRecord) => boolean) | undefined
  /** How many selected runs to skip. Default: 0. */
  readonly offset?: number | undefined
  /** The maximum number of runs. Default: 10. */
  readonly limit?: number | undefined
}

export async function listOwnRuns(
  context: RunContext,
  { accept = () => true, offset = 0, limit = 10, ...thread }: OwnedThread & RunListQuery,
): Promise<readonly RunRecord[]> {
  const { threadId } = thread
  if (!(await findThread(context, thread))) throw noSuchThread(threadId)
  // Run ids increase with time, and ordering by a field would read the runs of other threads.
  const runs = recordsOf(readRun, context.store, 'runs', { partition: threadId, descending: true })
  return listFitting(runs, accept, { offset, limit })
}
