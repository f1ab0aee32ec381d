import { actingFor } from '../../../core/principal.ts'
import { RunError, type ServedEngine } from '../../../engine/index.ts'
import { putJobOp } from '../../../storage/jobs/job.ts'
import type { JobHandler } from '../../../storage/jobs/kind.ts'
import type { Json, Op } from '../../../storage/store/store.ts'
import { FINISH_JOB } from './jobs.ts'

/** A run whose thread is deleted after the run has ended. */
interface Finishing {
  readonly threadId: string
  readonly runId: string
  readonly owner: string | null
}

/**
 * Schedules the deletion of a run's thread. It belongs in the commit that records the run. Otherwise a
 * process that does not know the run yet could start it again after the deletion.
 */
export const finishOp = (finishing: Finishing): Op =>
  putJobOp({ id: `run ${finishing.runId}`, kind: FINISH_JOB, data: finishing as unknown as Json })

/** Waits for the end of a run, on any instance, and deletes its thread. */
export const finishRun =
  (engine: ServedEngine): JobHandler =>
  async ({ data }, { signal }) => {
    const { threadId, runId, owner } = data as unknown as Finishing
    const thread = { threadId, principal: actingFor(owner) }
    try {
      await engine.wait({ ...thread, runId, signal })
    } catch (error) {
      if (!(error instanceof RunError) || !error.code.startsWith('no_such')) throw error
    }
    await engine.deleteThread(thread)
  }
