import { retry } from '../coordination/retry.ts'
import { UnavailableError } from '../errors.ts'
import type { Checkpointer, CheckpointTuple } from './checkpointer.ts'
import { overlay, wrapCalls } from './overlay.ts'

/** Retries `work`, which may safely be done twice, while the backend is away, for up to `patienceMs` milliseconds. */
export const retryUnavailable = <T>(patienceMs: number, work: () => T | Promise<T>): Promise<T> =>
  retry(work, {
    isRetryable: (error) => error instanceof UnavailableError,
    forMs: patienceMs,
    firstMs: 20,
    maxMs: 1_000,
  })

/** The methods whose calls give one promise. */
const METHODS = ['get', 'getTuple', 'put', 'putWrites', 'keepLatest', 'getDeltaChannelHistory']

/**
 * A view of a run's saver that waits for a backend that is away. Its calls may be retried because putting a checkpoint twice has the
 * effect of putting it once. Without patience it is the saver itself.
 */
export function retryingCheckpointer(inner: Checkpointer, patienceMs: number): Checkpointer {
  if (patienceMs === 0) return inner
  return overlay(inner, (saver) => ({
    ...wrapCalls(saver, METHODS, (call) => retryUnavailable(patienceMs, call)),
    /** Waits for the first tuple only, because what was yielded cannot be taken back. */
    async *list(...args) {
      let tuples: AsyncGenerator<CheckpointTuple> | undefined
      const first = await retryUnavailable(patienceMs, () => (tuples = saver.list(...args)).next())
      if (first.done) return
      try {
        yield first.value
        yield* tuples!
      } finally {
        await tuples!.return(undefined)
      }
    },
  }))
}
