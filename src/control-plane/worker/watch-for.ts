import { reportError } from '../../http/index.ts'
import { watchChanges } from '../../storage/coordination/changes.ts'
import { partitionOf } from '../records/stored.ts'
import type { WorkerContext } from './context.ts'
import type { Lease } from './lease.ts'
import type { End } from './plan.ts'

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
  lease: Lease,
  look: () => Promise<End | undefined>,
): Stop {
  const stopped = new AbortController()
  let end: End | undefined
  let isDone = false
  let deadline: ReturnType<typeof setTimeout> | undefined
  const changes = watchChanges(store, partitionOf(lease.id))

  const stop = (why: End | undefined) => {
    if (stopped.signal.aborted) return
    end = why
    stopped.abort(new DOMException(why?.reason ?? 'The worker stops.', 'AbortError'))
  }
  const leave = () => stop(undefined)
  async function check(): Promise<void> {
    try {
      const why = await look()
      if (why) stop(why)
    } catch (error) {
      // The lease decides whether the work may go on.
      reportError(error, onError)
    }
  }
  async function checkChanges(): Promise<void> {
    for (;;) {
      await changes.next(LOOK_MS, stopped.signal)
      if (isDone || stopped.signal.aborted) return
      await check()
    }
  }

  void checkChanges()
  for (const signal of [lease.signal, closing]) {
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
      isDone = true
      clearTimeout(deadline)
      changes.close()
      for (const signal of [lease.signal, closing]) signal.removeEventListener('abort', leave)
    },
  }
}
