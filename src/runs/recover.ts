import { ConflictError } from '../storage/errors.ts'
import type { RunContext } from './context.ts'
import { endingOf, endOps } from './finish.ts'
import { encodeFrame, pendingEvent } from './frame.ts'
import { isHeld } from './lease.ts'
import { guardThread, loadRun, loadThread } from './records.ts'

/**
 * Ends a run whose process is gone: its lease has expired. One `failed` event, or `interrupted` where a cancel was under
 * way. Does nothing when the lease is alive or another process was first.
 */
export async function recover(context: RunContext, threadId: string): Promise<void> {
  const { store } = context
  const state = await store.inspect(threadId)
  const thread = await loadThread(store, threadId)
  if (!thread || thread.record.activeRunId === null || isHeld(state)) return
  const run = await loadRun(store, threadId, thread.record.activeRunId)
  if (!run) return
  const { cancel } = run.record
  const ending = endingOf(
    run.record,
    cancel ? { end: 'stopped', reason: cancel } : { end: 'failed', error: OWNER_LOST },
    thread.record.interrupts,
  )
  const token = Math.max(state.token + 1, state.now)
  const frame = encodeFrame(pendingEvent(ending.event, run.record.runId), token, state.head + 1)
  const head = cancel === 'rollback' ? (run.record.base?.checkpointId ?? null) : thread.record.head
  try {
    await store.commit(threadId, {
      guards: [
        guardThread(threadId, thread),
        { guard: 'version', collection: 'runs', id: run.record.runId, version: run.version },
        { guard: 'free' },
        { guard: 'head', seq: state.head },
      ],
      ops: [
        { op: 'claim', owner: context.instance, token, ttlMs: context.leaseTtlMs },
        ...endOps(thread.record, run.record, ending, head),
        { op: 'append', token, events: [frame] },
        { op: 'release', token },
      ],
    })
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
  }
}

const OWNER_LOST = 'The server that ran this was lost. Send your message again.'
