import type { RunContext } from '../context.ts'
import { recoverThread } from '../rescue.ts'
import { removeMarked } from '../threads/delete-thread.ts'

/** What an instance does unasked, for itself and for others that were lost, until the engine closes. */
export function startMaintenance(context: RunContext): void {
  const { store, leaseTtlMs, sweepMs } = context
  // Where nobody else can be lost there is little to find.
  every(context, store.capabilities.shared ? leaseTtlMs / 3 : sweepMs, () => finishOrphanedWork(context))
  every(context, sweepMs, () => store.sweep())
}

/** Orphaned runs, runs that nobody starts, and deletions that were cut short. */
async function finishOrphanedWork(context: RunContext): Promise<void> {
  const { store, active, closing, report } = context
  const [expired, queued, deleting] = await Promise.all([
    store.expired(),
    store.list('threads', { where: { queued: 1 }, orderBy: 'updatedAt' }),
    store.list('threads', { where: { deleting: 1 } }),
  ])
  const todo = new Map<string, (context: RunContext, threadId: string) => Promise<unknown>>()
  for (const { partition } of [...expired, ...queued.docs])
    if (!active.has(partition)) todo.set(partition, recoverThread)
  for (const { partition } of deleting.docs) todo.set(partition, removeMarked)
  for (const [threadId, finish] of todo) {
    if (closing.signal.aborted) return
    await finish(context, threadId).catch((error) => report(error, { threadId }))
  }
}

/**
 * Does `work` again and again, never twice at once. Not on the stroke of a clock, so that instances that began together do not
 * ask the store together. Does not keep the process alive.
 */
function every({ closing, report }: RunContext, ms: number, work: () => Promise<void>): void {
  let timer: unknown
  const next = (): void => {
    if (closing.signal.aborted) return
    timer = setTimeout(
      () => {
        void work()
          .catch((error) => report(error, {}))
          .then(next)
      },
      ms * (0.75 + Math.random() / 2),
    )
    // A number where the runtime is not Node.
    ;(timer as { unref?: () => void }).unref?.()
  }
  closing.signal.addEventListener('abort', () => clearTimeout(timer as number))
  next()
}
