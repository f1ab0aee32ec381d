import { ConflictError } from '../../storage/errors.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { loadReceipt, putReceipt } from '../records/idempotency.ts'
import { loadThread, newThread, type ThreadRecord, type ThreadTtl } from '../records/records.ts'
import { boundedMetadata, putThread, updateThread } from '../records/thread.ts'
import type { NewThreadRequest, Owned } from '../requests.ts'
import { isOrphaned } from '../threads/savers.ts'
import { findThread, type OwnedThread, ownThread } from '../threads/threads.ts'
import { assertTtl } from './savers-of-thread.ts'

/**
 * Creates an empty thread. Undefined if the id is taken, by this or another owner. Throws `not_supported`:
 * see `assertTtl`.
 */
export async function createThread(
  context: RunContext,
  request: Owned<NewThreadRequest>,
): Promise<ThreadRecord | undefined> {
  const { store } = context
  const { threadId, owner, assistantId = null, metadata = {}, ttl, command } = request
  assertTtl(context, assistantId, ttl)
  const [{ now }, known, orphaned] = await Promise.all([
    store.inspect(threadId),
    loadThread(store, threadId),
    isOrphaned(context, request),
  ])
  if (orphaned && !known) return undefined
  const thread: ThreadRecord = {
    ...newThread(threadId, owner, now),
    ...{ assistantId, metadata: boundedMetadata(metadata), ttl },
  }
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

/** Changes of a thread's record. */
export interface ThreadPatch {
  /** Merged into the thread's metadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly ttl?: ThreadTtl | undefined
  /**
   * The server's title, used until a client sets one in `metadata.title`. A patch with a title does not change `updatedAt`, because it
   * is not activity of the thread.
   */
  readonly title?: string | undefined
}

/** Changes the metadata, time to live or title of a thread. */
export async function patchThread(
  context: RunContext,
  { threadId, metadata, ttl, title, ...access }: OwnedThread & ThreadPatch,
): Promise<ThreadRecord> {
  let isPatched = false
  const { now: updatedAt } = await context.store.inspect(threadId)
  const thread = await updateThread(context.store, threadId, (now) => {
    isPatched = ownThread(now, access) !== undefined
    if (isPatched) assertTtl(context, now.assistantId, ttl)
    return isPatched
      ? {
          ...now,
          metadata: metadata ? boundedMetadata({ ...now.metadata, ...metadata }) : now.metadata,
          ttl: ttl ?? now.ttl,
          ...(title === undefined ? { updatedAt } : { title }),
        }
      : undefined
  })
  // The new metadata may no longer match the filter.
  if (!thread || !isPatched) throw noSuchThread(threadId)
  return thread
}
