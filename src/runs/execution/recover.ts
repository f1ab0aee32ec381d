import { within } from '../../time.ts'
import type { RunContext } from '../context.ts'
import { isEnded, loadRun } from '../records/records.ts'
import { execute } from './execute.ts'
import { launchNext } from './launch.ts'
import { takeOverRun } from './take-over.ts'

/** Recovers a thread that no process runs: takes over its orphaned run, or starts the one that waits. */
export async function recoverThread(context: RunContext, threadId: string): Promise<void> {
  const next = (await takeOverRun(context, threadId)) ?? (await launchNext(context, threadId))
  if (next) void execute(context, next)
}

/** A run that executes elsewhere is checked again after at most this time, because its process may be lost. */
const RECHECK_MS = 1_000

/**
 * Settles when the run has ended, wherever it executes. A run whose process is lost ends after its lease has expired. Throws
 * `closing` when this process closes first, and the signal's reason when it aborts.
 */
export async function waitForEnd(
  context: RunContext,
  threadId: string,
  runId: string,
  signal?: AbortSignal,
): Promise<void> {
  let closed: Error | undefined
  const watcher = context.watchers.open(threadId, ({ reason, at }) => {
    // For a deleted thread the loop below ends, because its run is gone.
    if (at === 'head') closed = reason
  })
  signal?.addEventListener('abort', watcher.close)
  try {
    for (;;) {
      let seen = watcher.wakeUps()
      const changes = watcher.changes()
      const run = (await loadRun(context.store, threadId, runId))?.record
      if (!run || isEnded(run)) return
      const local = context.active.get(threadId)
      if (local?.runId === runId) {
        await local.done
        continue
      }
      const recheckAt = Date.now() + RECHECK_MS
      while (watcher.changes() === changes && Date.now() < recheckAt) {
        await within(RECHECK_MS, watcher.wait(seen))
        signal?.throwIfAborted()
        if (closed) throw closed
        seen = watcher.wakeUps()
      }
      await recoverThread(context, threadId)
    }
  } finally {
    signal?.removeEventListener('abort', watcher.close)
    watcher.close()
  }
}
