import { FencedError } from '../storage/errors.ts'
import type { PartitionState } from '../storage/store.ts'
import type { RunContext, StopReason } from './context.ts'
import type { Launched } from './launch.ts'
import { loadRun } from './records.ts'

export const isHeld = ({ lease, now }: PartitionState): boolean =>
  lease !== undefined && lease.expiresAt > now

/**
 * Keeps a run's lease alive and listens for a cancel from another process. A store that no other process sees needs
 * neither. Returns the function that ends it.
 */
export function keepLease(
  context: RunContext,
  { run, token }: Launched,
  stop: (reason: StopReason) => void,
): () => void {
  const { store, leaseTtlMs } = context
  const { threadId, runId } = run
  if (!store.capabilities.shared) return () => {}

  const check = async (): Promise<void> => {
    const read = await loadRun(store, threadId, runId)
    if (read?.record.cancel) stop(read.record.cancel)
  }
  const renew = async (): Promise<void> => {
    await store.commit(threadId, {
      guards: [{ guard: 'fence', token }],
      ops: [{ op: 'renew', token, ttlMs: leaseTtlMs }],
    })
    await check()
  }
  const settle = (work: Promise<void>): void => {
    work.catch((error) => {
      if (error instanceof FencedError) stop('fenced')
      else context.report(error, { threadId, runId })
    })
  }
  const timer = setInterval(() => settle(renew()), leaseTtlMs / 3)
  const off = store.watch(threadId, ({ docs }) => {
    if (docs) settle(check())
  })
  return () => {
    clearInterval(timer)
    off()
  }
}
