import { type Access, reaches } from '../../principal.ts'
import { checkpointerOf, type RunContext, readerOf } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { noSuchRun } from '../errors.ts'
import { loadRun, loadThread, newThread, type RunRecord, type ThreadRecord } from '../records/records.ts'

/** A thread, and who asks for it. */
export interface OwnedThread extends Access {
  readonly threadId: string
}

/**
 * The thread, or undefined where the caller has none of this id. On a server without authentication a thread that only the
 * checkpointer knows (made by other software on the same database) counts too.
 */
export async function findThread(context: RunContext, asked: OwnedThread): Promise<ThreadRecord | undefined> {
  const thread = (await loadThread(context.store, asked.threadId))?.record
  return thread ? ownThread(thread, asked) : savedThread(context, asked)
}

/** The thread if it may be seen. One that is not reached, and one that is being deleted, look unknown. */
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

/** The record of a run of an owner's thread. Throws `no_such_run`. */
export async function requireRun(context: RunContext, run: OwnedRun): Promise<RunRecord> {
  const found = (await findThread(context, run)) && (await loadRun(context.store, run.threadId, run.runId))
  if (found) return found.record
  throw noSuchRun()
}
