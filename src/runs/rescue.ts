import type { RunContext } from './context.ts'
import { execute } from './execution/execute.ts'
import { takeOverRun } from './execution/recover.ts'
import { launchNext } from './queue.ts'

/** Sees to a thread that nobody runs: takes over its orphaned run, or starts the one that waits. */
export async function recoverThread(context: RunContext, threadId: string): Promise<void> {
  const next = (await takeOverRun(context, threadId)) ?? (await launchNext(context, threadId))
  if (next) void execute(context, next)
}
