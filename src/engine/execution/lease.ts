import { holdLease } from '../../storage/coordination/hold-lease.ts'
import { renewLease } from '../../storage/coordination/leases.ts'
import { FencedError } from '../../storage/errors.ts'
import type { LaunchedRun, RunContext } from '../context.ts'
import { guardRun, loadRun, putExcused, type StopReason } from '../records/records.ts'
import { retryConflicts } from '../records/thread.ts'
import { aboutRun } from '../records/transition.ts'

/**
 * When a run checks for a cancel that arrived before it was listening, in milliseconds. Most shorter runs do
 * not need the check.
 */
const FIRST_CHECK_MS = 250

/**
 * Listens for a cancel of the run and, if other processes share the store, renews the lease. Returns a
 * function that ends both.
 */
export function superviseRun(
  context: RunContext,
  { run, token }: LaunchedRun,
  stop: (reason: StopReason) => void,
): () => void {
  const { store } = context
  const { threadId, runId } = run

  const checkForCancel = async (): Promise<void> => {
    const cancel = (await loadRun(store, threadId, runId))?.record.cancel
    if (cancel) stop(cancel)
  }
  const settle = (work: Promise<void>): Promise<void> =>
    work.catch((error) => {
      if (error instanceof FencedError) stop('fenced')
      else context.report(error, { threadId, runId })
    })
  // A cancel may have arrived between the start of the run and now. Later ones in this process call
  // `ActiveRun.stop`. A run that ends earlier sees it in the version of its record.
  const first = setTimeout(() => void settle(checkForCancel()), FIRST_CHECK_MS)
  if (!store.capabilities.shared) return () => clearTimeout(first)
  const stopRenewing = keepRenewing(context, threadId, token, (renewal) =>
    settle(renewal.then(checkForCancel)),
  )
  const unwatch = store.watch(threadId, ({ docs }) => {
    if (docs) void settle(checkForCancel())
  })
  return () => {
    clearTimeout(first)
    stopRenewing()
    unwatch()
  }
}

/**
 * Renews a lease if other processes share the store, until the returned function is called. A failed renewal
 * is ignored unless `onRenewal` checks it, because commits without the lease fail.
 */
export function keepRenewing(
  { store, leaseTtlMs: ttlMs }: RunContext,
  threadId: string,
  token: number,
  onRenewal = (renewal: Promise<void>) => renewal,
): () => void {
  if (!store.capabilities.shared) return () => {}
  const renew = () => onRenewal(renewLease(store, threadId, token, ttlMs))
  return holdLease({ ttlMs, renew, retakesExpired: true }).end
}

/**
 * Leaves a run that has not ended to any other process: its lease expires immediately, and its attempt is
 * excused. Throws `FencedError` if the lease was lost.
 */
export async function leaveRun({ store }: RunContext, { run, token }: LaunchedRun): Promise<void> {
  const { threadId, runId } = run
  await retryConflicts(async () => {
    const read = await loadRun(store, threadId, runId)
    await store.commit(threadId, {
      guards: read ? [guardRun(read)] : [],
      ops: [{ op: 'renew', token, ttlMs: 0 }, ...(read ? [putExcused(read.record)] : [])],
    })
  })
}

/** Leaves a run to other processes because this one closes. */
export async function handOver(context: RunContext, launched: LaunchedRun): Promise<void> {
  const { thread, run } = launched
  await leaveRun(context, launched)
  context.observe({ ...aboutRun(thread, run), type: 'run.handed_over' })
}
