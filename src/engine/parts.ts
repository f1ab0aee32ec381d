import { createJobs, type Jobs } from '../storage/jobs/jobs.ts'
import type { ServedEngine } from './agent-engine.ts'
import { type Attach, boundOf, type EngineParts } from './bound.ts'
import type { RunContext } from './context.ts'

/** The internal parts of an engine. */
export interface EngineInternals
  extends Pick<RunContext, 'aliases' | 'defaultAgent' | 'limits' | 'store' | 'observe'> {
  /** Whether clients see the text of an agent's error, or only an error id. */
  readonly showsErrors: boolean
  /** Whether the memory of graphs is a `BaseStore` that all principals share. */
  readonly sharesGraphStore: boolean
  /**
   * Settles when this process no longer executes a run of the thread; undefined if it executes none. For
   * hosts that stop an idle process, such as Workers: pass it to their `waitUntil`, as the routes do.
   */
  working(threadId: string): Promise<void> | undefined
  /**
   * Whether a reader in this process follows the thread's events, or waits for the end of one of its runs.
   */
  isFollowed(threadId: string): boolean
  /**
   * State that faces share over this engine, such as its job runner. Created by the first call with a given
   * function, and closed before the engine.
   */
  readonly attach: Attach
}

/**
 * The internal parts of an engine. Throws `RunError` `invalid_argument` for an object that is not an engine.
 */
export function internalsOf(engine: ServedEngine): EngineInternals {
  const { context, attach } = boundOf(engine)
  const { aliases, defaultAgent, limits, store, observe, graphStores, executing, watchers } = context
  return {
    aliases,
    defaultAgent,
    limits,
    store,
    observe,
    showsErrors: context.errorMessage !== undefined,
    sharesGraphStore: graphStores.isShared,
    working: (threadId) => executing.get(threadId),
    isFollowed: watchers.isFollowed,
    attach,
  }
}

/**
 * The jobs of an engine. A face registers its kinds when it is created. The jobs run until the engine closes.
 */
export const jobsOf = (engine: ServedEngine): Jobs => boundOf(engine).attach(createEngineJobs)

/** Reports failures, and also observes deliveries that were given up. */
const createEngineJobs = ({ store, report, observe }: EngineParts): Jobs =>
  createJobs({
    store,
    report: (error, job, kind) =>
      void report(error, job ? (kind?.originOf?.(job) ?? { threadId: job.partition }) : {}),
    onUndelivered({ job, kind, host, failures, error }, { originOf }) {
      if (!originOf) return
      const { threadId, runId } = originOf(job)
      observe({
        type: 'delivery.failed',
        kind,
        threadId,
        runId: runId ?? null,
        host: host ?? null,
        failures,
        error,
        at: Date.now(),
      })
    },
  })
