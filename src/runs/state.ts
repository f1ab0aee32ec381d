import type { HistoryOptions, StateAddress, StateSnapshot, StateUpdate } from '../agents/agent.ts'
import { FencedError } from '../storage/errors.ts'
import { fencedCheckpointer } from '../storage/fenced.ts'
import type { Store } from '../storage/store.ts'
import { agentOf, checkpointerOf, type RunContext } from './context.ts'
import { RunError } from './errors.ts'
import { openInterrupts } from './interrupts.ts'
import { isHeld } from './lease.ts'
import { guardThread, loadThread, newThread, putThread, type ThreadRecord } from './records.ts'
import { rescue } from './rescue.ts'
import { noSuchThread, requireCheckpoint } from './start.ts'
import { retryConflicts } from './update-thread.ts'

export interface StateQuery {
  /** Default: the thread's head. */
  readonly checkpointId?: string | undefined
  /** Namespace segments joined by `|`. Default: the root. */
  readonly checkpointNs?: string | undefined
  readonly subgraphs?: boolean | undefined
}

/** The thread's state, or undefined before its first checkpoint. */
export function readState(
  context: RunContext,
  thread: ThreadRecord,
  query: StateQuery = {},
): Promise<StateSnapshot | undefined> {
  const agent = agentOf(context, assistantOf(context, thread))
  return agent.getState(addressOf(context, thread, query), { subgraphs: query.subgraphs ?? false })
}

/** Snapshots newest first. */
export function readHistory(
  context: RunContext,
  thread: ThreadRecord,
  query: StateQuery,
  options: HistoryOptions,
): AsyncIterable<StateSnapshot> {
  const agent = agentOf(context, assistantOf(context, thread))
  return agent.getHistory(addressOf(context, thread, query), options)
}

export const assistantOf = (context: RunContext, { assistantId }: ThreadRecord): string =>
  assistantId ?? context.defaultAgent

function addressOf(
  context: RunContext,
  thread: ThreadRecord,
  { checkpointId, checkpointNs }: StateQuery,
): StateAddress {
  const agent = agentOf(context, assistantOf(context, thread))
  return {
    threadId: thread.threadId,
    checkpointer: checkpointerOf(context, agent),
    checkpointNs,
    checkpointId: checkpointId ?? (checkpointNs ? undefined : (thread.head ?? undefined)),
  }
}

export interface StateWrite extends StateUpdate {
  readonly threadId: string
  readonly owner: string | null
  /** Write on top of this checkpoint: a fork. Default: the thread's head. */
  readonly checkpointId?: string | undefined
  readonly checkpointNs?: string | undefined
  readonly title?: string | undefined
}

/**
 * Writes a checkpoint from outside a run, creating the thread when there is none. It holds the thread's lease meanwhile, so
 * no run can start under it. Throws `thread_busy` while a run is in progress, and when the thread is deleted meanwhile.
 */
export async function writeState(context: RunContext, write: StateWrite): Promise<StateSnapshot> {
  const { store } = context
  const { threadId } = write
  const held = await retryConflicts(() => hold(context, write))
  const { thread, token } = held
  try {
    const agent = agentOf(context, assistantOf(context, thread))
    const address = addressOf(context, thread, write)
    if (write.checkpointId !== undefined) await requireCheckpoint(address)
    const checkpointer = fencedCheckpointer(address.checkpointer, store, threadId, token)
    const { checkpointId } = await agent.updateState({ ...address, checkpointer }, write)
    const snapshot = await agent.getState({ ...address, checkpointId })
    if (!snapshot) throw new RunError('no_such_checkpoint', 'The written checkpoint could not be read back.')
    await retryConflicts(() => settle(context, write, held, snapshot))
    return snapshot
  } catch (error) {
    await giveBack(store, threadId, token)
    if (!(error instanceof FencedError)) throw error
    const message = 'The thread was deleted, or taken by another process, while its state was written.'
    throw new RunError('thread_busy', message, { cause: error })
  } finally {
    await rescue(context, threadId)
  }
}

interface Held {
  readonly thread: ThreadRecord
  readonly token: number
  /** The log's last sequence number. */
  readonly head: number
}

/** Takes a free thread's lease. The record is not written yet: a refused update must not leave a thread behind. */
async function hold(context: RunContext, write: StateWrite): Promise<Held> {
  const { store } = context
  const { threadId, owner } = write
  const state = await store.inspect(threadId)
  const read = await loadThread(store, threadId)
  const thread = read?.record ?? newThread(threadId, owner, state.now)
  if (thread.owner !== owner) throw noSuchThread(threadId)
  if (thread.deleting || isHeld(state)) {
    throw new RunError(
      'thread_busy',
      'The thread has a run in progress. Wait for it or cancel it, then write the state.',
    )
  }
  if (thread.activeRunId !== null) {
    await rescue(context, threadId)
    return hold(context, write)
  }
  const token = Math.max(state.token + 1, state.now)
  await store.commit(threadId, {
    guards: [guardThread(threadId, read), { guard: 'free' }],
    ops: [{ op: 'claim', owner: context.instance, token, ttlMs: context.leaseTtlMs }],
  })
  return { thread, token, head: state.head }
}

async function giveBack(store: Store, threadId: string, token: number): Promise<void> {
  try {
    await store.commit(threadId, { ops: [{ op: 'release', token }] })
  } catch (error) {
    // It is no longer ours.
    if (!(error instanceof FencedError)) throw error
  }
}

async function settle(
  context: RunContext,
  write: StateWrite,
  held: Held,
  snapshot: StateSnapshot,
): Promise<void> {
  const { store } = context
  const { threadId } = write
  const read = await loadThread(store, threadId)
  const thread = read?.record ?? held.thread
  const interrupts = openInterrupts(snapshot, thread.interrupts)
  const changed: ThreadRecord = {
    ...thread,
    title: thread.title ?? write.title ?? null,
    interrupts,
    status: interrupts.length > 0 ? 'interrupted' : 'idle',
    head: null,
    replayAfter: write.checkpointId === undefined ? thread.replayAfter : held.head,
    updatedAt: Date.now(),
  }
  await store.commit(threadId, {
    guards: [guardThread(threadId, read), { guard: 'fence', token: held.token }],
    ops: [putThread(changed), { op: 'release', token: held.token }],
  })
}
