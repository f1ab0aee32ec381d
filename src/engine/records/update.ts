import { retryOnConflict } from '../../storage/coordination/retry.ts'
import type { Guard, Op, Store } from '../../storage/store/store.ts'
import { RunError } from '../errors.ts'
import { guardThread, loadThread, putThread, type ThreadRecord } from './records.ts'

/**
 * Repeats what was decided on values that another writer has changed: the attempt must read, decide and write.
 * Throws `thread_busy` if it gives up.
 */
export const retryConflicts = <T>(attempt: () => Promise<T>, what = 'thread'): Promise<T> =>
  retryOnConflict(
    attempt,
    (cause) => new RunError('thread_busy', `The ${what} is changing too fast. Try again.`, { cause }),
  )

/**
 * Reads, changes and writes a thread's record, and retries after conflicts. `change` returns undefined to
 * keep it unchanged.
 */
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
