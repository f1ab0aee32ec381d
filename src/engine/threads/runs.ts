import type { RunContext } from '../context.ts'
import type { RunRecord } from '../records/records.ts'
import { findRun, type OwnedRun } from './threads.ts'

export async function getRun(context: RunContext, run: OwnedRun): Promise<RunRecord | undefined> {
  return (await findRun(context, run))?.run
}
