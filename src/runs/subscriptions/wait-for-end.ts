import { within } from '../../time.ts'
import type { RunContext } from '../context.ts'
import { isEnded, loadRun, type RunRecord } from '../records/records.ts'

/** A run that executes elsewhere is checked again after at most this time, because its process may be lost. */
const RECHECK_MS = 1_000

/**
 * Settles when the run has ended, wherever it executes, and gives its record if there is one. A run whose process is lost ends
 * after its lease has expired. Throws `closing` when this process closes first, and the signal's reason when it aborts.
 */
export async function waitForEnd(
  context: RunContext,
  threadId: string,
  runId: string,
  signal?: AbortSignal,
): Promise<RunRecord | undefined> {
  let closed: Error | undefined
  const watcher = context.watchers.open(threadId, ({ reason, at }) => {
    // For a deleted thread the loop below ends, because its run is gone.
    if (at === 'head') closed = reason
  })
  let leave = () => {}
  const left = new Promise<void>((resolve) => (leave = resolve))
  const onAbort = () => {
    watcher.close()
    leave()
  }
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      const local = context.active.get(threadId)
      if (local?.runId === runId) await Promise.race([local.done, left])
      signal?.throwIfAborted()
      let seen = watcher.wakeUps()
      const changes = watcher.changes()
      const run = (await loadRun(context.store, threadId, runId))?.record
      if (!run || isEnded(run)) return run
      const recheckAt = performance.now() + RECHECK_MS
      while (watcher.changes() === changes && performance.now() < recheckAt) {
        await within(RECHECK_MS, watcher.wait(seen))
        signal?.throwIfAborted()
        if (closed) throw closed
        seen = watcher.wakeUps()
      }
      await context.recover(threadId)
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    watcher.close()
  }
}
