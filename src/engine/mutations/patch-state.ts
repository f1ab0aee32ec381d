import type { CheckpointMetadata } from '../../storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { claimLease, isHeld, nextToken, releaseLease } from '../../storage/coordination/leases.ts'
import { checkpointerOf, type RunContext, readerOf } from '../context.ts'
import { noSuchThread, RunError } from '../errors.ts'
import { keepRenewing } from '../execution/lease.ts'
import { guardThread, loadThread } from '../records/records.ts'
import { retryConflicts } from '../records/thread.ts'
import { type OwnedThread, ownThread } from '../threads/threads.ts'

/** The checkpoint metadata that LangGraph and checkpointers use. */
const RESERVED: ReadonlySet<string> = new Set(['source', 'step', 'parents', 'counters_since_delta_snapshot'])

/**
 * Merges keys into the metadata of a thread's newest checkpoint. Throws `no_such_thread`,
 * `no_such_checkpoint` before the first checkpoint, and `thread_busy` during a run.
 */
export async function patchState(
  context: RunContext,
  { threadId, metadata, ...access }: OwnedThread & { readonly metadata: Readonly<Record<string, unknown>> },
): Promise<void> {
  const { store } = context
  const reserved = Object.keys(metadata).find((key) => RESERVED.has(key))
  if (reserved) throw new RunError('invalid_argument', `metadata.${reserved} is reserved for the checkpoint.`)
  const { thread, token } = await retryConflicts(async () => {
    const state = await store.inspect(threadId)
    const read = await loadThread(store, threadId)
    const thread = read && ownThread(read.record, access)
    if (!thread) throw noSuchThread(threadId)
    if (isHeld(state) || thread.activeRunId !== null)
      throw new RunError('thread_busy', 'Thread is busy: it has a run in progress. Wait for it or cancel it.')
    const token = nextToken(state)
    await store.commit(threadId, {
      guards: [guardThread(threadId, read), { guard: 'free' }],
      ops: [claimLease(context, token)],
    })
    return { thread, token }
  })
  const stopRenewing = keepRenewing(context, threadId, token)
  try {
    const saver = checkpointerOf(context, readerOf(context, thread.assistantId))
    const checkpoint_id = thread.restoredCheckpointId ?? undefined
    const tuple = await saver.getTuple({
      configurable: { thread_id: threadId, checkpoint_ns: '', ...(checkpoint_id && { checkpoint_id }) },
    })
    if (!tuple) throw new RunError('no_such_checkpoint', 'The thread has no state yet.')
    const parent = tuple.parentConfig?.configurable?.checkpoint_id as string | undefined
    await fencedCheckpointer(saver, store, threadId, token).put(
      { configurable: { thread_id: threadId, checkpoint_ns: '', ...(parent && { checkpoint_id: parent }) } },
      tuple.checkpoint,
      { ...tuple.metadata, ...metadata } as CheckpointMetadata,
      {},
    )
  } finally {
    stopRenewing()
    await releaseLease(store, threadId, token)
  }
}
