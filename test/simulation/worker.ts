import { parentPort } from 'node:worker_threads'
import { type CourseResult, runCourse } from './course.ts'
import { type Program, programOf } from './load.ts'

/** A thread that runs courses one after the other: its clocks and timers are replaced. */

export interface Task {
  /** The script of the program. Undefined: that of the task before. */
  readonly script: string | undefined
  readonly seed: number
  readonly isTraced: boolean
}

export interface TaskResult extends CourseResult {
  /** The lines of the course. Empty unless it was asked for. */
  readonly trace: readonly string[]
}

let program: (() => Program) | undefined
let memoryStorage: Program['memoryStorage'] | undefined

parentPort!.on('message', async ({ script, seed, isTraced }: Task) => {
  if (script !== undefined) {
    program = programOf(script)
    memoryStorage = program().memoryStorage
  }
  const trace: string[] = []
  const result = await runCourse({
    seed,
    program: program!,
    memoryStorage: memoryStorage!,
    ...(isTraced && { print: (line: string) => void trace.push(line) }),
  })
  parentPort!.postMessage({ ...result, trace } satisfies TaskResult)
})
