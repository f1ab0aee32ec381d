import type { RunContext } from '../context.ts'
import { loadThread } from '../records/records.ts'
import type { RunResult } from '../requests.ts'
import { type OwnedRun, requireRun } from '../threads/threads.ts'
import { waitForEnd } from './wait-for-end.ts'

/** Settles when a run has ended, on any instance. */
export async function waitForResult(
  context: RunContext,
  { signal, ...asked }: OwnedRun & { readonly signal?: AbortSignal },
): Promise<RunResult> {
  const { store } = context
  const { threadId, runId } = asked
  await requireRun(context, asked)
  const { run, records } = await waitForEnd(context, threadId, runId, signal)
  const thread = records?.thread ?? (await loadThread(store, threadId))
  // The run's thread was deleted meanwhile, and the run was stopped for that.
  const { status, error, errorName } = run ?? { status: 'interrupted', error: null }
  const interrupts = (thread?.record.interrupts ?? []).map(({ id, value }) => ({ id, value }))
  return { runId, status: status as RunResult['status'], error, errorName, interrupts }
}
