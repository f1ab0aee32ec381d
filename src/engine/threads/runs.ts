import { listFitting, recordsOf } from '../../storage/store/pages.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { type RunRecord, readRun } from '../records/records.ts'
import { findRun, findThread, type OwnedRun, type OwnedThread } from './threads.ts'

export async function getRun(context: RunContext, run: OwnedRun): Promise<RunRecord | undefined> {
  return (await findRun(context, run))?.run
}

/** Which runs of a thread to list. */
export interface RunListQuery {
  /** Selects runs. Default: all. */
  readonly accept?: ((run: RunRecord) => boolean) | undefined
  /** How many selected runs to skip. Default: 0. */
  readonly offset?: number | undefined
  /** The maximum number of runs. Default: 10. */
  readonly limit?: number | undefined
}

export async function listOwnRuns(
  context: RunContext,
  { accept = () => true, offset = 0, limit = 10, ...thread }: OwnedThread & RunListQuery,
): Promise<readonly RunRecord[]> {
  const { threadId } = thread
  if (!(await findThread(context, thread))) throw noSuchThread(threadId)
  // Run ids increase with time, and ordering by a field would read the runs of other threads.
  const runs = recordsOf(readRun, context.store, 'runs', { partition: threadId, descending: true })
  return listFitting(runs, accept, { offset, limit })
}
