import type { TracedRun } from '../traced-run.ts'

/**
 * Receives runs. `update` gets the complete run, after the sink has responded to the run's `create`. `create`
 * is called after the sink has responded to the parent's. Errors and rejections go to `onError` and never
 * reach the model's caller.
 */
export interface Sink {
  create(run: TracedRun): unknown
  update(run: TracedRun): unknown
}

/** Keeps the newest state of each run, ordered by start, for tests and tools. It grows until cleared. */
export interface MemorySink extends Sink {
  readonly runs: readonly TracedRun[]
  clear(): void
}

export function memorySink(): MemorySink {
  const runs = new Map<string, TracedRun>()
  const keep = (run: TracedRun) => void runs.set(run.id, run)
  return {
    create: keep,
    update: keep,
    get runs() {
      return [...runs.values()].sort((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1))
    },
    clear: () => runs.clear(),
  }
}
