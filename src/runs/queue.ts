import { ConflictError } from '../storage/errors.ts'
import type { RunContext } from './context.ts'
import { claimThread, type Launched } from './execution/launch.ts'
import { isHeld } from './execution/lease.ts'
import { guardThread, loadRun, loadThread, putThread } from './records/records.ts'

/**
 * Gives a free thread to the run that waits first, and returns it for the caller to execute. Any process may call it at any
 * time: who loses the race gets undefined.
 */
export async function launchNext(context: RunContext, threadId: string): Promise<Launched | undefined> {
  if (context.closing.signal.aborted) return undefined
  try {
    return await takeNext(context, threadId)
  } catch (error) {
    if (error instanceof ConflictError) return launchNext(context, threadId)
    context.report(error, { threadId })
    return undefined
  }
}

async function takeNext(context: RunContext, threadId: string): Promise<Launched | undefined> {
  const { store } = context
  const state = await store.inspect(threadId)
  const read = await loadThread(store, threadId)
  const next = read?.record.queue[0]
  if (!read || !next || read.record.activeRunId !== null || isHeld(state)) return undefined
  const run = await loadRun(store, threadId, next.runId)
  if (run?.record.status === 'pending') {
    return claimThread(context, { read, thread: read.record, run: run.record, state })
  }
  // The record was dropped: skip it.
  await store.commit(threadId, {
    guards: [guardThread(threadId, read)],
    ops: [putThread({ ...read.record, queue: read.record.queue.slice(1) })],
  })
  return takeNext(context, threadId)
}
