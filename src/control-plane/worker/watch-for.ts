import { reportError } from '../../http/index.ts'
import { partitionOf } from '../records/stored.ts'
import type { WorkerContext } from './context.ts'
import type { End } from './plan.ts'
import type { Tenure } from './tenure.ts'

/** How often is looked without a notification, since those may be lost. In milliseconds. */
const LOOK_MS = 1_000

export interface Stop {
  /** Aborts when the work has to stop. */
  readonly signal: AbortSignal
  /** Why it had to stop. Undefined where the lease was lost or the worker closes: then nothing is decided. */
  readonly end: End | undefined
  /** Ends it in so many milliseconds. */
  after(ms: number, end: End): void
  /** Stops watching. */
  done(): void
}

/** Watches a deployment while a phase is under way. `look` says why it has to stop, if it has to. */
export function watchFor(
  { store, onError, closing }: Pick<WorkerContext, 'store' | 'onError' | 'closing'>,
  tenure: Tenure,
  look: () => Promise<End | undefined>,
): Stop {
  const stopped = new AbortController()
  let end: End | undefined
  let deadline: ReturnType<typeof setTimeout> | undefined
  let isLooking = false

  const stop = (why: End | undefined) => {
    if (stopped.signal.aborted) return
    end = why
    stopped.abort(new DOMException(why?.reason ?? 'The worker stops.', 'AbortError'))
  }
  const leave = () => stop(undefined)
  async function check(): Promise<void> {
    if (isLooking || stopped.signal.aborted) return
    isLooking = true
    try {
      const why = await look()
      if (why) stop(why)
    } catch (error) {
      // The lease decides whether the work may go on.
      reportError(error, onError)
    } finally {
      isLooking = false
    }
  }

  const timer = setInterval(check, LOOK_MS)
  const unwatch = store.watch(partitionOf(tenure.id), ({ docs }) => docs && void check())
  for (const signal of [tenure.signal, closing]) {
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
  }
  return {
    signal: stopped.signal,
    get end() {
      return end
    },
    after(ms, why) {
      deadline = setTimeout(() => stop(why), ms)
    },
    done() {
      clearInterval(timer)
      clearTimeout(deadline)
      unwatch()
      for (const signal of [tenure.signal, closing]) signal.removeEventListener('abort', leave)
    },
  }
}
