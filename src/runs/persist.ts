import { ConflictError, UnavailableError } from '../storage/errors.ts'
import type { Change, Store } from '../storage/store/store.ts'

export interface Persist {
  readonly store: Store
  readonly threadId: string
  readonly token: number
  /** The log's last sequence number before the change, and after it. They must differ. */
  readonly before: number
  readonly after: number
  readonly change: Change
  /** How long to try again while the store is away, in milliseconds. */
  readonly retryForMs: number
}

/**
 * Commits a change that appends to the log, also over a store that is away for a while. A commit whose answer was lost is not
 * done twice: only the holder of the token writes to this log, so its head tells whether the change is in it.
 */
export async function persist({
  store,
  threadId,
  token,
  before,
  after,
  change,
  retryForMs: patienceMs,
}: Persist): Promise<void> {
  let deadline: number | undefined
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, MAX_DELAY_MS)) {
    try {
      const state = deadline === undefined ? undefined : await store.inspect(threadId)
      if (state?.token === token && state.head === after) return
      await store.commit(threadId, change)
      return
    } catch (error) {
      // What was thought lost has arrived after all: look again.
      const overtaken = error instanceof ConflictError && deadline !== undefined
      if (!(error instanceof UnavailableError || overtaken)) throw error
      deadline ??= Date.now() + patienceMs
      if (Date.now() >= deadline || (overtaken && !(await moved(store, threadId, before)))) throw error
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

/** Whether a conflict is about the log and not about something else that the change is guarded by. */
const moved = async (store: Store, threadId: string, head: number): Promise<boolean> =>
  (await store.inspect(threadId)).head !== head

const FIRST_DELAY_MS = 20
const MAX_DELAY_MS = 1_000
