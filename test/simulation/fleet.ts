import { Worker } from 'node:worker_threads'
import { bundleOf } from '../kit/bundle.ts'
import type { Task, TaskResult } from './worker.ts'

/** Threads that run courses. */
export interface Fleet {
  /** Runs the courses of these seeds, several at once, until `onResult` returns false. */
  run(script: string, seeds: Iterable<number>, onResult: (result: TaskResult) => boolean): Promise<void>
  /** Runs one course, and gives its trace, too. */
  trace(script: string, seed: number): Promise<TaskResult>
  close(): Promise<void>
}

export async function openFleet(size: number): Promise<Fleet> {
  const file = await bundleOf('test/simulation/worker.ts')
  const workers = Array.from(
    { length: size },
    () =>
      // What a course leaves is thrown away at once where the space for what is new is large.
      new Worker(file, { resourceLimits: { maxYoungGenerationSizeMb: 64 } }),
  )
  const scripts = new Map<Worker, string>()

  const ask = (worker: Worker, script: string, seed: number, isTraced: boolean): Promise<TaskResult> =>
    new Promise((resolve, reject) => {
      const isKnown = scripts.get(worker) === script
      scripts.set(worker, script)
      const done = (result: TaskResult): void => {
        worker.off('error', reject)
        resolve(result)
      }
      worker.once('message', done)
      worker.once('error', reject)
      worker.postMessage({ script: isKnown ? undefined : script, seed, isTraced } satisfies Task)
    })

  return {
    async run(script, seeds, onResult) {
      const left = seeds[Symbol.iterator]()
      let isOver = false
      const lane = async (worker: Worker): Promise<void> => {
        for (let next = left.next(); !next.done && !isOver; next = left.next()) {
          const result = await ask(worker, script, next.value, false)
          if (!onResult(result)) isOver = true
        }
      }
      await Promise.all(workers.map(lane))
    },
    trace: (script, seed) => ask(workers[0]!, script, seed, true),
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

/** The whole numbers from `from` to `to`. */
export function* seedsOf(from: number, to: number): Generator<number> {
  for (let seed = from; seed <= to; seed++) yield seed
}
