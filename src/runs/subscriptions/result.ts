import type { PendingInterrupt } from '../../agents/agent.ts'
import type { RunContext } from '../context.ts'
import { waitForEnd } from '../execution/recover.ts'
import { loadRun, loadThread } from '../records/records.ts'
import { type OwnedRun, requireRun } from '../threads/threads.ts'

/** The result of a run. */
export interface RunResult {
  readonly runId: string
  readonly status: 'success' | 'error' | 'interrupted'
  /** What clients are told of why it failed. */
  readonly error: string | null
  /** The name of the class of that error, where it has failed: `Error` where clients are not told. */
  readonly errorName?: string | undefined
  /** The interrupts that are open on the thread now. */
  readonly interrupts: readonly PendingInterrupt[]
}

/** Settles when a run has ended, on any instance. */
export async function waitForResult(
  context: RunContext,
  { signal, ...asked }: OwnedRun & { readonly signal?: AbortSignal },
): Promise<RunResult> {
  const { store } = context
  const { threadId, runId } = asked
  await requireRun(context, asked)
  await waitForEnd(context, threadId, runId, signal)
  const [run, thread] = await Promise.all([loadRun(store, threadId, runId), loadThread(store, threadId)])
  // The run's thread was deleted meanwhile, and the run was stopped for that.
  const { status, error, errorName } = run?.record ?? { status: 'interrupted', error: null }
  const interrupts = (thread?.record.interrupts ?? []).map(({ id, value }) => ({ id, value }))
  return { runId, status: status as RunResult['status'], error, errorName, interrupts }
}
