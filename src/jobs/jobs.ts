import { jitter, startTimer } from '../time.ts'
import type { JobKind, JobKinds } from './kind.ts'
import type { JobRunner, JobRunnerOptions, JobTimes } from './runner.ts'

export interface JobsOptions extends Omit<JobRunnerOptions, 'kinds' | 'times'> {
  readonly times?: Partial<JobTimes> | undefined
}

/**
 * Jobs of a store, which stay there until they are done. Every process of a shared store works on them: what
 * a lost process held is continued by another one, from what was saved. Each job is done at least once. All
 * kinds share one poller and one set of slots.
 */
export interface Jobs {
  /** Adds kinds of jobs, which this process then works on. A kind of the same name is replaced. */
  register(kinds: JobKinds): void
  /** Looks for jobs that are due. Call it after a commit with `putJobOp`. */
  wake(): void
  /**
   * Starts to look for jobs where `register` could not, because timers were forbidden while the module was
   * loaded. Every request may call it.
   */
  start(): void
  /** Begins no delivery any more, lets those under way end within `drainMs`, and gives all jobs back. */
  close(): Promise<void>
}

/** The jobs of a store. What works on them is loaded when there may be some. */
export function createJobs({ times, ...options }: JobsOptions): Jobs {
  const { claimMs = 15_000, drainMs = 5_000 } = times ?? {}
  const kinds = new Map<string, JobKind>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStarted = false
  let runner: Promise<JobRunner> | undefined
  let closed: Promise<void> | undefined

  async function load(): Promise<JobRunner> {
    const { createJobRunner } = await import('./runner.ts')
    return createJobRunner({ ...options, kinds, times: { claimMs, drainMs } })
  }

  async function wakeRunner(): Promise<void> {
    runner ??= load()
    ;(await runner).wake()
  }

  function wake(): void {
    if (closed || kinds.size === 0) return
    clearTimeout(timer)
    wakeRunner().catch((error) => {
      runner = undefined
      isStarted = false
      options.report(error)
    })
  }

  function start(): void {
    if (isStarted || closed || kinds.size === 0) return
    timer = startTimer(jitter(claimMs / 3), wake)
    isStarted = true
  }

  return {
    register(added) {
      for (const [name, kind] of Object.entries(added)) kinds.set(name, kind)
      isStarted = false
      clearTimeout(timer)
      try {
        start()
      } catch {} // Workers allow no timers before the first request.
    },
    wake,
    start,
    close() {
      clearTimeout(timer)
      // A failure to load it was reported by `wake`.
      closed ??= (async () => (await runner?.catch(() => undefined))?.close())()
      return closed
    },
  }
}
