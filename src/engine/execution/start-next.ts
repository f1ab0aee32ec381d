import { within } from '../../core/time.ts'
import { beforeClose, type RunContext } from '../context.ts'
import { execute } from './execute.ts'
import { launchNext } from './launch.ts'

/** How long a caller waits for a run to start. A longer start, with retries, continues in the background. */
const START_MS = 1_000

/** Starts the first waiting run of a free thread, if there is one. */
export async function startNext(context: RunContext, threadId: string): Promise<void> {
  const started = launchNext(context, threadId).then((next) => {
    if (next) void execute(context, next)
  })
  await within(START_MS, beforeClose(context, started))
}

/** Starts a run that is due, unless another process was first. Never rejects. */
export async function startDue(context: RunContext, threadId: string): Promise<void> {
  if (context.closing.signal.aborted) return
  await startNext(context, threadId).catch((error) => context.report(error, { threadId }))
}
