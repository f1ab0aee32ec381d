import { UnavailableError } from '../errors.ts'
import type { Checkpointer } from './checkpointer.ts'
import { overlay } from './fenced.ts'

/** Retries `work`, which may safely be done twice, while the backend is away, for up to `patienceMs` milliseconds. */
export async function retryUnavailable<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
  let deadline: number | undefined
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, MAX_DELAY_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      deadline ??= Date.now() + patienceMs
      if (Date.now() >= deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

/** A view of a run's saver that waits for a backend that is away. Its calls may be retried because putting a checkpoint twice has the effect of putting it once. */
export function retryingCheckpointer(inner: Checkpointer, patienceMs: number): Checkpointer {
  return overlay(inner, (saver) => ({
    getTuple: (...args) => retryUnavailable(patienceMs, () => saver.getTuple(...args)),
    put: (...args) => retryUnavailable(patienceMs, () => saver.put(...args)),
    putWrites: (...args) => retryUnavailable(patienceMs, () => saver.putWrites(...args)),
  }))
}

const FIRST_DELAY_MS = 20
const MAX_DELAY_MS = 1_000
