import { within } from '../../core/time.ts'
import type { RunContext } from '../context.ts'
import {
  isEnded,
  loadRun,
  loadThread,
  type RunRecord,
  type RunRecords,
  type ThreadRecord,
} from '../records/records.ts'
import type { RunResult } from '../requests.ts'
import { type OwnedRun, requireRun } from '../threads/threads.ts'

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

/** Resolves when a run has ended, on any instance. */
export async function waitForResult(
  context: RunContext,
  { signal, ...asked }: OwnedRun & { readonly signal?: AbortSignal },
): Promise<RunResult> {
  const { store } = context
  const { threadId, runId } = asked
  const found = await requireRun(context, asked)
  if (isEnded(found.run)) return resultOf(found)
  const { run, records } = await waitForEnd(context, threadId, runId, signal)
  const thread = (records?.thread ?? (await loadThread(store, threadId)))?.record
  // The run's thread was deleted in the meantime, and the run was stopped for that.
  return resultOf({ thread, run: run ?? { runId, status: 'interrupted', error: null } })
}

function resultOf({
  thread,
  run,
}: {
  readonly thread: ThreadRecord | undefined
  readonly run: Pick<RunRecord, 'runId' | 'status' | 'error' | 'errorName'>
}): RunResult {
  const { runId, status, error, errorName } = run
  const interrupts = (thread?.interrupts ?? []).map(({ id, value }) => ({ id, value }))
  return { runId, status: status as RunResult['status'], error, errorName, interrupts }
}
