import { within } from '../../core/time.ts'
import type { RunContext } from '../context.ts'
import { isEnded, loadRun, type RunRecord, type RunRecords } from '../records/records.ts'

/** A run that executes elsewhere is checked again after this time, because its process may be lost. */
const RECHECK_MS = 1_000

/** A run that has ended. */
export interface EndedRun {
  /** Undefined if it was undone or deleted. */
  readonly run: RunRecord | undefined
  /** The records that its end wrote, if this process wrote them. */
  readonly records?: RunRecords | undefined
}

/**
 * Resolves when the run has ended, wherever it executes. A run whose process is lost ends after its lease has
 * expired. Throws `closing` if this process closes first, and the signal's reason when it aborts.
 */
export async function waitForEnd(
  context: RunContext,
  threadId: string,
  runId: string,
  signal?: AbortSignal,
): Promise<EndedRun> {
  // A client may have left while this was loaded: an aborted signal tells nobody again.
  signal?.throwIfAborted()
  let closed: Error | undefined
  const watcher = context.watchers.open(
    threadId,
    ({ reason, at }) => {
      // For a deleted thread the loop below ends, because its run no longer exists.
      if (at === 'head') closed = reason
    },
    false,
  )
  let leave = () => {}
  const left = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)))
  const onAbort = () => {
    watcher.close()
    leave()
  }
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      const local = context.active.get(threadId)
      const records = local?.runId === runId ? await Promise.race([local.done, left]) : undefined
      signal?.throwIfAborted()
      if (records) return { run: records.run?.record, records }
      let seen = watcher.wakeUps()
      const changes = watcher.changes()
      const run = (await loadRun(context.store, threadId, runId))?.record
      if (!run || isEnded(run)) return { run }
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
