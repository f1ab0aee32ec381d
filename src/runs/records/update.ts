import { ConflictError } from '../../storage/errors.ts'
import type { Guard, Op, Store } from '../../storage/store/store.ts'
import { sleep } from '../../time.ts'
import { RunError } from '../errors.ts'
import { guardThread, loadThread, putThread, type ThreadRecord } from './records.ts'

/**
 * Retries `attempt` while it fails with `ConflictError`. Every attempt must read again. Throws `thread_busy` after about ten
 * seconds of conflicts.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>, what = 'thread'): Promise<T> {
  for (let conflicts = 0; ; conflicts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      if (conflicts >= MAX_CONFLICTS)
        throw new RunError('thread_busy', `The ${what} is changing too fast. Try again.`, { cause: error })
      // The first retries do not wait: within one process the winner has already committed.
      if (conflicts > 3) await sleep(Math.random() * Math.min(conflicts * 4, 200))
    }
  }
}

const MAX_CONFLICTS = 100

/** Reads, changes and writes a thread's record, and retries conflicts. `change` returns undefined to leave it unchanged. */
export async function updateThread(
  store: Store,
  threadId: string,
  change: (thread: ThreadRecord) => ThreadRecord | undefined,
  extra: { readonly guards?: readonly Guard[]; readonly ops?: readonly Op[] } = {},
): Promise<ThreadRecord | undefined> {
  return retryConflicts(async () => {
    const read = await loadThread(store, threadId)
    const next = read && change(read.record)
    if (!next) return read?.record
    await store.commit(threadId, {
      guards: [guardThread(threadId, read), ...(extra.guards ?? [])],
      ops: [putThread(next), ...(extra.ops ?? [])],
    })
    return next
  })
}
