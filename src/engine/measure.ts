import type { RunContext } from './context.ts'
import { readThread } from './records/records.ts'

/** The current load of an engine. */
export interface EngineMeasures {
  /** The runs that execute in this process. */
  readonly running: number
  /** The waiting runs in all processes of the store, counted in up to 1,000 threads. */
  readonly queued: number
  /** The subscribers of this process. */
  readonly subscribers: number
  /**
   * How many events the slowest subscriber is behind the newest event that this process has seen in its
   * thread.
   */
  readonly lag: number
}

export async function measure({ store, active, watchers }: RunContext): Promise<EngineMeasures> {
  const waiting = await store.list('threads', { orderBy: 'queued', limit: 1_000 })
  const threads = waiting.docs.map(readThread)
  const queued = threads.reduce((count, { queue }) => count + queue.length, 0)
  return { running: active.size, queued, ...watchers.measure() }
}
