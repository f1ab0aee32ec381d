import { jitter, startTimer } from '../../core/time.ts'
import type { JobKind, JobKinds } from './kind.ts'
import type { JobRunner, JobRunnerOptions, JobTimes } from './runner.ts'

export interface JobsOptions extends Omit<JobRunnerOptions, 'kinds' | 'times'> {
  readonly times?: Partial<JobTimes> | undefined
}

/**
 * The jobs of a store, which stay there until they are done. Every process with a shared store works on them:
 * if a process is lost, another one continues its jobs from their last `save`. Each job is done at least
 * once. All kinds share one poller and one set of slots.
 */
export interface Jobs {
  /** Registers kinds of jobs for this process. Replaces a kind with the same name. */
  register(kinds: JobKinds): void
  /** Looks for due jobs. Call it after a commit with `putJobOp`. */
  wake(): void
  /**
   * Starts to look for jobs if `register` could not, because timers were forbidden while the module was
   * loaded. Every request may call it.
   */
  start(): void
  /** Starts no more deliveries, lets active ones finish within `drainMs`, and releases all jobs. */
  close(): Promise<void>
}

/** The jobs of a store. The runner is loaded when there may be jobs. */
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
      // `wake` reported the error if loading failed.
      closed ??= (async () => (await runner?.catch(() => undefined))?.close())()
      return closed
    },
  }
}
