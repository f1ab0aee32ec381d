import type { RunContext } from '../context.ts'
import { isEnded, loadThread, type RunRecord, type ThreadRecord } from '../records/records.ts'
import type { RunResult } from '../requests.ts'
import { type OwnedRun, requireRun } from '../threads/threads.ts'
import { waitForEnd } from './wait-for-end.ts'

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
