import type { Store } from '../../storage/index.ts'

/** How long a change in a shared store may go unnoticed: notifications of it may be lost. */
const RECHECK_MS = 1_000

/** The changes of a partition's documents. */
export interface Changes {
  /** Settles when a document may have changed since the call before, the time is over, or the signal fires. */
  next(ms: number, signal: AbortSignal): Promise<void>
  close(): void
}

/** Notes changes from now on, so that none is missed between a read and the wait behind it. */
export function followChanges(store: Store, partition: string): Changes {
  let isChanged = false
  let wake = () => {}
  const unwatch = store.watch(partition, ({ docs }) => {
    if (!docs) return
    isChanged = true
    wake()
  })
  return {
    async next(ms, signal) {
      if (!isChanged && !signal.aborted)
        await new Promise<void>((resolve) => {
          const end = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', end)
            resolve()
          }
          const timer = setTimeout(end, store.capabilities.shared ? Math.min(ms, RECHECK_MS) : ms)
          wake = end
          signal.addEventListener('abort', end)
        })
      isChanged = false
    },
    close: unwatch,
  }
}
