import { sleep, within } from '../core/time.ts'
import { closeReason, type RunContext } from './context.ts'
import { deadlineOf } from './deadlines.ts'
import { RunError } from './errors.ts'

/**
 * Lets runs finish for `drainMs`, then stops them: a run that another process can continue is handed over,
 * any other ends as interrupted. Finally it ends every subscription with an error, so that clients reconnect
 * elsewhere. A store or checkpointer that does not respond delays it only for a while: the leases of such
 * runs expire, and other processes find them.
 */
export async function close(context: RunContext): Promise<void> {
  const { active, closing, pending, drainMs, cancelGraceMs, wakeUps } = context
  closing.abort()
  wakeUps.close()
  if (drainMs > 0 && active.size > 0) {
    await within(drainMs, Promise.all([...active.values()].map((run) => run.done)))
  }
  for (const run of active.values()) run.stop(closeReason(context, run.assistantId))
  // An agent gets its time to stop, and the end of its run the time of one checkpointer call and one store
  // call.
  const end = performance.now() + cancelGraceMs + 2 * deadlineOf(context)
  do {
    await within(end - performance.now(), Promise.allSettled(pending))
    // A claim that was just written is executed, and stopped immediately, in this turn of the event loop.
    await sleep(0)
  } while (pending.size > 0 && performance.now() < end)
  if (pending.size > 0) {
    context.report(new Error('The server closed while the store or a checkpointer was not responding.'), {})
  }
  context.watchers.close(new RunError('closing', 'The server is shutting down.'))
}
