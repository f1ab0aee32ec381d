import type { RunContext } from './context.ts'
import { readThread } from './records/records.ts'

/** The current load of an engine. */
export interface EngineMeasures {
  /** Runs that execute in this process. */
  readonly running: number
  /** Runs that wait, in all processes of the store; counted to 1,000 threads. */
  readonly queued: number
  /** Subscribers of this process. */
  readonly subscribers: number
  /** How many events the slowest of them is behind the newest one that this process has seen of its thread. */
  readonly lag: number
}

export async function measure({ store, active, watchers }: RunContext): Promise<EngineMeasures> {
  const waiting = await store.list('threads', { orderBy: 'queued', limit: 1_000 })
  const threads = waiting.docs.map(readThread)
  const queued = threads.reduce((count, { queue }) => count + queue.length, 0)
  return { running: active.size, queued, ...watchers.measure() }
}
