import { within } from '../../time.ts'
import { beforeClose, type RunContext } from '../context.ts'
import { isEnded, loadRun } from '../records/records.ts'
import { execute } from './execute.ts'
import { launchNext } from './launch.ts'
import { takeOverRun } from './take-over.ts'

/** Recovers a thread that no process runs: takes over its orphaned run, or starts the one that waits. */
export async function recoverThread(context: RunContext, threadId: string): Promise<void> {
  const orphan = await takeOverRun(context, threadId)
  if (orphan) void execute(context, orphan)
  else await startNext(context, threadId)
}

/** How long a caller waits for a run to start. What takes longer, because it is tried again, goes on without the caller. */
const START_MS = 1_000

/** Starts the run that waits first on a free thread, if there is one. */
export async function startNext(context: RunContext, threadId: string): Promise<void> {
  const started = launchNext(context, threadId).then((next) => {
    if (next) void execute(context, next)
  })
  await within(START_MS, beforeClose(context, started))
}

/** Starts the run whose time has come, if no other process was first. Never rejects. */
export async function startDue(context: RunContext, threadId: string): Promise<void> {
  if (context.closing.signal.aborted) return
  await startNext(context, threadId).catch((error) => context.report(error, { threadId }))
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
      const recheckAt = performance.now() + RECHECK_MS
      while (watcher.changes() === changes && performance.now() < recheckAt) {
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
