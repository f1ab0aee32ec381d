import { putJobOp } from '../../jobs/job.ts'
import type { Json, Op } from '../../storage/store/store.ts'

/** Waits for the end of a run, in the partition of its thread. */
export const FOLLOW = 'run-webhook'
/** Delivers the outcome of a run, in a partition of its own, because the thread may be gone by then. */
export const DELIVER = 'run-webhook-delivery'

export interface FollowedRun {
  readonly runId: string
  readonly url: string
  readonly owner: string | null
  /** Whether the thread is deleted once it is known what to deliver. */
  readonly deletesThread: boolean
}

/** The webhook of a run, for the commit that records the run. */
export const webhookJob = (run: FollowedRun): Op =>
  putJobOp({ id: run.runId, kind: FOLLOW, data: run as unknown as Json })

/** Any origin: the handler looks at the path only. */
export const LOCAL = 'http://localhost'

export const isOwnPath = (url: string): boolean =>
  url.startsWith('/') && URL.canParse(url, LOCAL) && new URL(url, LOCAL).origin === LOCAL
