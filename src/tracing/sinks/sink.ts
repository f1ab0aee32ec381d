import type { TracedRun } from '../traced-run.ts'

/**
 * Where runs go. `update` gets the whole record again, with what has come to it. It is called after `create` of the same run
 * was answered, and `create` after that of the parent. What they throw or reject with goes to `onError`; it never reaches the
 * caller of the model.
 */
export interface Sink {
  create(run: TracedRun): unknown
  update(run: TracedRun): unknown
}

/** Keeps the newest record of each run, in the order of their starts: for tests and local tools. Grows until it is cleared. */
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
