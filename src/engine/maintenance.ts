import { jitter, startTimer } from '../core/time.ts'
import type { RunContext } from './context.ts'

/** Periodic work. Loaded when it first runs. */
interface Maintenance {
  finishOrphanedWork(context: RunContext, recovering: Set<string>, deadlineMs: number): Promise<void>
  deleteExpired(context: RunContext): Promise<void>
}

/**
 * Starts the periodic work of an instance until the engine closes: it finishes the work of lost processes and
 * deletes expired records. Workers allow no timers before the first request, so every request calls the
 * returned function, which starts the work if that failed before.
 */
export function startMaintenance(context: RunContext, work: Maintenance): () => void {
  const { store, leaseTtlMs, sweepMs } = context
  let started = false
  const start = (): void => {
    if (started) return
    // With a store of a single process no other process can be lost, so there is little to find.
    const recoverMs = store.capabilities.shared ? leaseTtlMs / 3 : sweepMs
    const recovering = new Set<string>()
    every(context, recoverMs, () => work.finishOrphanedWork(context, recovering, recoverMs))
    every(context, sweepMs, () => work.deleteExpired(context))
    started = true
  }
  try {
    start()
  } catch {}
  return start
}

/** Repeats `work`, one call at a time. Does not keep the process alive. */
function every({ closing, report }: RunContext, ms: number, work: () => Promise<void>): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const next = (): void => {
    if (closing.signal.aborted) return
    timer = startTimer(jitter(ms), () => {
      void work()
        // Work that a close interrupts is left to other processes: the store may be closed before the work
        // ends.
        .catch((error) => closing.signal.aborted || report(error, {}))
        .then(next)
    })
  }
  next()
  closing.signal.addEventListener('abort', () => clearTimeout(timer))
}
