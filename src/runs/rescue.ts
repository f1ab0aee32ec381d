import type { RunContext } from './context.ts'
import { execute } from './execute.ts'
import { launchNext } from './queue.ts'
import { recover } from './recover.ts'

/** Sees to a thread that nobody runs: takes over its orphaned run, or starts the one that waits. */
export async function rescue(context: RunContext, threadId: string): Promise<void> {
  const next = (await recover(context, threadId)) ?? (await launchNext(context, threadId))
  if (next) void execute(context, next)
}

/** Looks for such threads until the engine closes. Only where other processes share the store is there anything to find. */
export function rescueRegularly(context: RunContext): void {
  const { store, closing, leaseTtlMs, report } = context
  if (!store.capabilities.shared) return
  let busy = false
  const look = async (): Promise<void> => {
    for (const threadId of await abandoned(context)) {
      if (closing.signal.aborted) return
      await rescue(context, threadId).catch((error) => report(error, { threadId }))
    }
  }
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    look()
      .catch((error) => report(error, {}))
      .finally(() => {
        busy = false
      })
  }, leaseTtlMs / 3)
  closing.signal.addEventListener('abort', () => clearInterval(timer))
}

/** Threads with a lease that is over, and free ones with runs that wait. */
async function abandoned({ store, active }: RunContext): Promise<readonly string[]> {
  const [expired, queued] = await Promise.all([
    store.expired(),
    store.list('threads', { where: { queued: 1 }, orderBy: 'updatedAt' }),
  ])
  const threads = [...expired, ...queued.docs].map(({ partition }) => partition)
  return [...new Set(threads)].filter((threadId) => !active.has(threadId))
}
