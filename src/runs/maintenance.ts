import { isUpgraded } from '../storage/upgraded.ts'
import { jitter, startTimer } from '../time.ts'
import type { RunContext } from './context.ts'

/** What is done now and then. It is loaded when it is done first. */
interface Maintenance {
  finishOrphanedWork(context: RunContext, recovering: Set<string>, deadlineMs: number): Promise<void>
  deleteExpired(context: RunContext): Promise<void>
}

/**
 * Starts the periodic work of an instance, which finishes what lost processes left and deletes expired records, until the
 * engine closes. Workers allow no timers before the first request, so the returned function, which every request calls, starts
 * it where that has failed.
 */
export function startMaintenance(context: RunContext, work: Maintenance): () => void {
  const { store, leaseTtlMs, sweepMs } = context
  let started = false
  const start = (): void => {
    if (started) return
    // With a store of one process no other process can be lost, so there is little to find.
    const recoverMs = store.capabilities.shared ? leaseTtlMs / 3 : sweepMs
    const recovering = new Set<string>()
    every(context, recoverMs, () => work.finishOrphanedWork(context, recovering, recoverMs))
    every(context, sweepMs, () => work.deleteExpired(context))
    // Looked at before there is much. An error comes again for whoever asks.
    isUpgraded(store).catch(() => {})
    started = true
  }
  try {
    start()
  } catch {}
  return start
}

/** Repeats `work`, never twice at once. Does not keep the process alive. */
function every({ closing, report }: RunContext, ms: number, work: () => Promise<void>): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const next = (): void => {
    if (closing.signal.aborted) return
    timer = startTimer(jitter(ms), () => {
      void work()
        // What a close interrupts is left to other processes: the store may be closed before it ends.
        .catch((error) => closing.signal.aborted || report(error, {}))
        .then(next)
    })
  }
  next()
  closing.signal.addEventListener('abort', () => clearTimeout(timer))
}
