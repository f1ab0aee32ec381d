import { eventLoopTurns } from '../../core/time.ts'
import { isHeld, nextToken } from '../../storage/coordination/leases.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { loadWithState } from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import { type OwnedThread, ownThread, savedThread } from '../threads/threads.ts'
import { assertKeepLatest, saversOfThread } from './savers-of-thread.ts'
import { type Idle, shorten } from './shorten.ts'

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
