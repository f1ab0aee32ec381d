import { createJobs, type Jobs } from '../jobs/jobs.ts'
import type { Attach, EngineParts } from './attach.ts'

/** The jobs of an engine. A face registers its kinds when it is made. They are worked on until the engine closes. */
export const jobsOf = ({ attach }: { readonly attach: Attach }): Jobs => attach(createEngineJobs)

/** What fails is reported, and what is not delivered is observed, too. */
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
