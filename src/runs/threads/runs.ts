import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { loadRun, type RunRecord, readRun } from '../records/records.ts'
import { findThread, type OwnedRun, type OwnedThread } from './threads.ts'

export interface RunListQuery {
  /** Which runs to give. Default: all. */
  readonly accept?: ((run: RunRecord) => boolean) | undefined
  /** How many of these to leave out first. Default 0. */
  readonly offset?: number | undefined
  /** The most runs to give. Default 10. */
  readonly limit?: number | undefined
}

export async function getRun(context: RunContext, run: OwnedRun): Promise<RunRecord | undefined> {
  if (!(await findThread(context, run))) return undefined
  return (await loadRun(context.store, run.threadId, run.runId))?.record
}

/** Runs in one call of the store. */
const PAGE = 100

export async function listOwnRuns(
  context: RunContext,
  { accept = () => true, offset = 0, limit = 10, ...thread }: OwnedThread & RunListQuery,
): Promise<readonly RunRecord[]> {
  const { threadId } = thread
  if (!(await findThread(context, thread))) throw noSuchThread(threadId)
  const runs: RunRecord[] = []
  let skipped = 0
  let from: string | undefined
  while (runs.length < limit) {
    // Their ids rise with the time, and an order by a field would look at the runs of other threads.
    const { docs, cursor } = await context.store.list('runs', {
      partition: threadId,
      descending: true,
      limit: PAGE,
      ...(from !== undefined && { cursor: from }),
    })
    for (const doc of docs) {
      const run = readRun(doc)
      if (runs.length >= limit || !accept(run)) continue
      if (skipped < offset) skipped++
      else runs.push(run)
    }
    if (cursor === undefined) break
    from = cursor
  }
  return runs
}
