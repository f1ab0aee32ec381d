import type { RunContext } from '../context.ts'
import { execute, startNext } from './execute.ts'
import { takeOverRun } from './take-over.ts'

/** Recovers a thread that no process runs: takes over its orphaned run, or starts the waiting one. */
export async function recoverThread(context: RunContext, threadId: string): Promise<void> {
  const orphan = await takeOverRun(context, threadId)
  if (orphan) void execute(context, orphan)
  else await startNext(context, threadId)
}
