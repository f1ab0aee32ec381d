import type { RunContext } from './context.ts'
import { execute } from './execute.ts'
import { launchNext } from './queue.ts'
import { recover } from './recover.ts'

/** Sees to a thread that nobody runs: takes over its orphaned run, or starts the one that waits. */
export async function rescue(context: RunContext, threadId: string): Promise<void> {
  const next = (await recover(context, threadId)) ?? (await launchNext(context, threadId))
  if (next) void execute(context, next)
}
