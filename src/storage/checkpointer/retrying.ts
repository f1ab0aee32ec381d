import { retry } from '../coordination/retry.ts'
import { UnavailableError } from '../errors.ts'
import type { Checkpointer, CheckpointTuple } from './checkpointer.ts'
import { overlay, wrapCalls } from './overlay.ts'

/** Retries idempotent `work` while the backend is unavailable, for up to `patienceMs` milliseconds. */
export const retryUnavailable = <T>(patienceMs: number, work: () => T | Promise<T>): Promise<T> =>
  retry(work, {
    isRetryable: (error) => error instanceof UnavailableError,
    forMs: patienceMs,
    firstMs: 20,
    maxMs: 1_000,
  })

/** Methods that return a single promise. */
const METHODS = ['get', 'getTuple', 'put', 'putWrites', 'keepLatest', 'getDeltaChannelHistory']

/**
 * A view of a run's saver that retries while the backend is unavailable. This is safe because puts are
 * idempotent. With a patience of 0 it is the saver itself.
 */
export function retryingCheckpointer(inner: Checkpointer, patienceMs: number): Checkpointer {
  if (patienceMs === 0) return inner
  return overlay(inner, (saver) => ({
    ...wrapCalls(saver, METHODS, (call) => retryUnavailable(patienceMs, call)),
    /** Retries only until the first tuple, because yielded tuples cannot be retracted. */
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
