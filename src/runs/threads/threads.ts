import { type Access, reaches } from '../../principal.ts'
import { ConflictError } from '../../storage/errors.ts'
import { checkpointerOf, type RunContext, readerOf } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { noSuchRun, noSuchThread } from '../errors.ts'
import { type CommandKey, loadReceipt, putReceipt } from '../records/idempotency.ts'
import {
  loadRun,
  loadThread,
  newThread,
  putThread,
  type RunRecord,
  type ThreadRecord,
  type ThreadTtl,
} from '../records/records.ts'
import { updateThread } from '../records/update.ts'
import { isOrphaned } from './savers.ts'

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

export interface NewThread extends OwnedThread {
  readonly assistantId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly ttl?: ThreadTtl | undefined
  /** The idempotency key: a repeated request returns the thread that the first one created. */
  readonly command?: CommandKey | undefined
}

/** Creates an empty thread. Undefined when the id is taken, by this or another owner. */
export async function createThread(
  context: RunContext,
  request: NewThread,
): Promise<ThreadRecord | undefined> {
  const { store } = context
  const { threadId, owner, assistantId = null, metadata = {}, ttl, command } = request
  const [{ now }, known, orphaned] = await Promise.all([
    store.inspect(threadId),
    loadThread(store, threadId),
    isOrphaned(context, request),
  ])
  if (orphaned && !known) return undefined
  const thread: ThreadRecord = { ...newThread(threadId, owner, now), assistantId, metadata, ttl }
  try {
    await store.commit(threadId, {
      guards: [{ guard: 'absent', collection: 'threads', id: threadId }],
      ops: [putThread(thread), ...putReceipt(command, { threadId, appliedThroughSeq: 0 })],
    })
    return thread
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    const taken = command && (await findThread(context, request))
    return taken && (await loadReceipt(store, threadId, command)).receipt ? taken : undefined
  }
}

export interface ThreadPatch {
  /** Merged into those of the thread. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly ttl?: ThreadTtl | undefined
}

/** Changes what clients say of a thread. */
export async function patchThread(
  context: RunContext,
  { threadId, metadata, ttl, ...access }: OwnedThread & ThreadPatch,
): Promise<ThreadRecord> {
  let isPatched = false
  const thread = await updateThread(context.store, threadId, (now) => {
    isPatched = ownThread(now, access) !== undefined
    return isPatched
      ? { ...now, metadata: { ...now.metadata, ...metadata }, ttl: ttl ?? now.ttl, updatedAt: Date.now() }
      : undefined
  })
  // The new metadata need not pass the filter any more.
  if (!thread || !isPatched) throw noSuchThread(threadId)
  return thread
}
