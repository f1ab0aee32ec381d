import { reportError } from '../../core/http/index.ts'
import { pause } from '../../core/time.ts'
import { watchChanges } from '../../storage/coordination/changes.ts'
import type { KeyedSemaphore } from '../../storage/coordination/keyed-semaphore.ts'
import { DeployError } from '../deployers/deployer.ts'
import { partitionOf } from '../records/stored.ts'
import type { WorkerContext } from './context.ts'
import type { Lease } from './lease.ts'
import type { End } from './plan.ts'

/** How often a deployment is read without a notification, because those may be lost. In milliseconds. */
const RECHECK_MS = 1_000

/** Watches a deployment during work on it. `check` returns an end if the work has to stop. */
export function supervise(lease: Lease, check: () => Promise<End | undefined>) {
  const { store, onError, closing } = lease.context
  const stopped = new AbortController()
  const signal = AbortSignal.any([stopped.signal, lease.signal, closing])
  const changes = watchChanges(store, partitionOf(lease.id))
  let end: End | undefined
  let isDone = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let free = () => {}

  const stop = (decided: End) => {
    if (signal.aborted) return
    end = decided
    stopped.abort(new DOMException(decided.reason, 'AbortError'))
  }
  async function watch(): Promise<void> {
    for (;;) {
      await changes.next(RECHECK_MS, signal)
      if (isDone || signal.aborted) return
      try {
        const decided = await check()
        if (decided) stop(decided)
      } catch (error) {
        // The lease decides whether the work may continue.
        reportError(error, onError)
      }
    }
  }

  void watch()
  return {
    /** Aborts when the work has to stop. */
    signal,
    /** Why it had to stop. Undefined if the lease was lost or the worker is closing: that decides nothing. */
    get end() {
      return end
    },
    stopAfter(ms: number, decided: End): void {
      timer = setTimeout(() => stop(decided), ms)
    },
    /** Takes a slot until `done`. */
    async acquire(slots: KeyedSemaphore<string | null>, owner: string | null): Promise<void> {
      free = await slots.acquire(owner, signal)
    },
    done(): void {
      isDone = true
      clearTimeout(timer)
      changes.close()
      free()
    },
  }
}

/**
 * The result of work that was asked to stop when the signal aborted. Work that continues beyond the grace
 * time is not awaited: its later result goes to `late`.
 */
export async function settled<T>(
  { times, onError }: Pick<WorkerContext, 'times' | 'onError'>,
  signal: AbortSignal,
  work: Promise<T>,
  late: (result: T) => Promise<void> = async () => {},
): Promise<T> {
  const ended = new AbortController()
  const result = work.finally(() => ended.abort())
  await pause(Number.POSITIVE_INFINITY, signal, ended.signal)
  await pause(times.graceMs, ended.signal)
  if (ended.signal.aborted) return result
  result.then(late).catch((error: unknown) => reportError(error, onError))
  throw signal.reason
}

/**
 * Like `settled`, for a phase whose failure clients may read: the deployer's own `DeployError`, otherwise one
 * with the error id that `onError` received. Store errors have other types, and decide nothing about a
 * revision.
 */
export async function phaseResult<T>(
  context: Pick<WorkerContext, 'times' | 'onError'>,
  signal: AbortSignal,
  work: Promise<T>,
  late?: (result: T) => Promise<void>,
): Promise<T> {
  try {
    return await settled(context, signal, work, late)
  } catch (error) {
    // After an abort, an error only shows how the work stopped.
    if (signal.aborted || error instanceof DeployError) throw error
    const id = reportError(error, context.onError)
    throw new DeployError(`The deployer failed (error id ${id}).`, { cause: error })
  }
}
