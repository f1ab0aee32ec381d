import { putJobOp } from '../../../storage/jobs/job.ts'
import type { Json, Op } from '../../../storage/store/store.ts'

/** Waits for the end of a run, in its thread's partition. */
export const FOLLOW = 'run-webhook'
/** Delivers a run's outcome, in its own partition, because the thread may be deleted by then. */
export const DELIVER = 'run-webhook-delivery'

export interface FollowedRun {
  readonly runId: string
  readonly url: string
  readonly owner: string | null
  /** Whether the thread is deleted once the body to deliver is known. */
  readonly deletesThread: boolean
}

/** The webhook job of a run, for the commit that records the run. */
export const webhookJob = (run: FollowedRun): Op =>
  putJobOp({ id: run.runId, kind: FOLLOW, data: run as unknown as Json })

/** Any origin works: the handler only uses the path. */
export const LOCAL = 'http://localhost'

export const isOwnPath = (url: string): boolean =>
  url.startsWith('/') && URL.canParse(url, LOCAL) && new URL(url, LOCAL).origin === LOCAL
