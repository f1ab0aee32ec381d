import { beforePartial } from '../../agents/open-calls.ts'
import { eventLoopTurns } from '../../core/time.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { claimLease, isHeld, nextToken, releaseLease } from '../../storage/coordination/leases.ts'
import { ConflictError, FencedError, UnavailableError } from '../../storage/errors.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { keepRenewing } from '../execution/lease.ts'
import { guardThread, loadWithState, type ThreadRecord, type Versioned } from '../records/records.ts'
import { retryConflicts, updateThread } from '../records/thread.ts'
import { type OwnedThread, ownThread, savedThread } from '../threads/threads.ts'
import { assertKeepLatest, saversOfThread } from './savers-of-thread.ts'

/**
 * Shortens threads to their newest state, and returns how many of them belong to their callers. Records,
 * events and pending interrupts stay. Throws before any change: `not_supported` if a checkpointer does not
 * support it, `thread_busy` if a run is active or waiting.
 */
export async function keepLatest(context: RunContext, asked: readonly OwnedThread[]): Promise<number> {
  const turn = eventLoopTurns()
  for (const one of asked) {
    await findIdle(context, one)
    await turn()
  }
  let shortened = 0
  for (const one of asked) {
    const isFound = await retryConflicts(async () => {
      const idle = await findIdle(context, one)
      if (idle) await shorten(context, idle).finally(() => context.recover(one.threadId))
      return idle !== undefined
    })
    if (isFound) shortened += 1
    await turn()
  }
  return shortened
}

/** Undefined if the caller has no such thread. */
async function findIdle(context: RunContext, asked: OwnedThread): Promise<Idle | undefined> {
  const { store } = context
  const { threadId } = asked
  const { state, read } = await loadWithState(store, threadId)
  const thread = read ? ownThread(read.record, asked) : await savedThread(context, asked)
  if (!thread) return undefined
  assertKeepLatest(saversOfThread(context, thread.assistantId))
  if (isHeld(state) || thread.activeRunId !== null || thread.queue.length > 0)
    throw new RunError(
      'thread_busy',
      `Thread ${JSON.stringify(threadId)} is busy: it has a run that is in progress or queued. Wait for it or cancel it, then try again.`,
    )
  return { thread, read, token: nextToken(state) }
}

/** A thread, and the token to claim its free lease with. */
export interface Idle {
  readonly thread: ThreadRecord
  /** Undefined for a thread that only exists in a checkpointer. */
  readonly read: Versioned<ThreadRecord> | undefined
  readonly token: number
}

/**
 * Shortens a thread to its newest state. It holds the lease in the meantime: a new run waits on the thread,
 * and the caller must start it. Throws `ConflictError` if another process was first.
 */
export async function shorten(context: RunContext, { thread, read, token }: Idle): Promise<void> {
  const { store } = context
  const { threadId, assistantId } = thread
  const savers = saversOfThread(context, assistantId)
  assertKeepLatest(savers)
  await store.commit(threadId, {
    guards: [guardThread(threadId, read), { guard: 'free' }],
    ops: [claimLease(context, token)],
  })
  const stopRenewing = keepRenewing(context, threadId, token)
  try {
    for (const saver of savers) {
      const fenced = fencedCheckpointer(saver, store, threadId, token)
      await fenced.keepLatest!(threadId, await baseOf(saver, thread))
    }
    await noteShortened(context, threadId, token)
  } catch (error) {
    if (!(error instanceof FencedError)) throw error
    const message = 'The thread was deleted, or taken over by another process, while it was being shortened.'
    throw new RunError('thread_busy', message, { cause: error })
  } finally {
    stopRenewing()
    await releaseLease(store, threadId, token)
  }
}

/**
 * Shortens a thread whose time to live has expired, unless it has changed in the meantime. A failure is
 * reported, and the thread is skipped until it changes, so that it does not delay others. Throws
 * `UnavailableError`: the next sweep tries again.
 */
export async function shortenExpired(context: RunContext, read: Versioned<ThreadRecord>): Promise<void> {
  const { record: thread } = read
  const { threadId } = thread
  try {
    const token = nextToken(await context.store.inspect(threadId))
    await shorten(context, { thread, read, token })
  } catch (error) {
    const isTaken = error instanceof RunError && error.code === 'thread_busy'
    if (isTaken || error instanceof ConflictError) return
    if (error instanceof UnavailableError) throw error
    context.report(error, { threadId })
    await noteShortened(context, threadId)
  }
}

/** The checkpoint from which the next run of a thread continues. */
async function baseOf(
  saver: Checkpointer,
  { threadId, restoredCheckpointId }: ThreadRecord,
): Promise<string | undefined> {
  if (restoredCheckpointId !== null) return restoredCheckpointId
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: '' } })
  return beforePartial(tuple) ?? tuple?.checkpoint.id
}

/** Makes the time to live of the thread start again at its next change. */
const noteShortened = (context: RunContext, threadId: string, token?: number) =>
  updateThread(
    context.store,
    threadId,
    (thread) =>
      thread.ttl?.strategy === 'keep_latest' ? { ...thread, shortenedAt: thread.updatedAt } : undefined,
    token === undefined ? {} : { guards: [{ guard: 'fence', token }] },
  )
