import { createJobs, type Jobs } from '../storage/jobs/jobs.ts'
import type { ServedEngine } from './agent-engine.ts'
import type { EngineParts } from './attach.ts'
import { boundOf } from './bound.ts'

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
