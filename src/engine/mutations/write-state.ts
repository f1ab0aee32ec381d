import { AgentInputError } from '../../agents/errors.ts'
import { reaches } from '../../core/principal.ts'
import { sleep } from '../../core/time.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { newestCheckpointId } from '../../storage/checkpointer/newest-checkpoint.ts'
import { claimLease, isHeld, nextToken, releaseLease } from '../../storage/coordination/leases.ts'
import { ConflictError, FencedError } from '../../storage/errors.ts'
import type { PartitionState } from '../../storage/store/store.ts'
import { type RunContext, readerOf } from '../context.ts'
import { noSuchThread, RunError } from '../errors.ts'
import { keepRenewing } from '../execution/lease.ts'
import { withoutRefusalText } from '../failures.ts'
import { giveUpAnswer } from '../records/answers.ts'
import {
  concurrentDuplicate,
  deleteReceipt,
  type InFlight,
  putInFlight,
  putReceipt,
  readReceipt,
  receiptKey,
  type StateReceipt,
} from '../records/idempotency.ts'
import { openInterrupts } from '../records/interrupts.ts'
import { guardThread, loadWithState, newThread, resting, type ThreadRecord } from '../records/records.ts'
import { boundedMetadata, putThread, requireFewKeys, retryConflicts } from '../records/thread.ts'
import type { LoadedStart, Owned, StateWriteRequest } from '../requests.ts'
import { isOrphaned, orphanedThread } from '../threads/savers.ts'
import { addressOf, requireCheckpoint } from '../threads/state.ts'
import { assertTtl } from './savers-of-thread.ts'

export type StateWrite = Owned<StateWriteRequest>

/**
 * Writes a checkpoint from outside a run, and creates the thread if it does not exist. It holds the thread's
 * lease in the meantime, so that no run can start. Throws `thread_busy` while a run is active, and if the
 * thread is deleted in the meantime.
 */
export async function writeState(context: RunContext, write: StateWrite): Promise<StateReceipt> {
  const { store } = context
  const { threadId, command } = write
  requireFewKeys('values', write.values)
  for (const { values, command: sent } of write.steps?.flat() ?? []) {
    requireFewKeys('values', values)
    requireFewKeys('update', sent?.update)
  }
  const held = await (write.looked
    ? holdThread(context, write)
    : retryConflicts(() => holdThread(context, write)))
  if ('checkpointId' in held) return held
  let { written } = held
  const stopRenewing = keepRenewing(context, threadId, held.token)
  try {
    written ??= await putCheckpoint(context, write, held)
    const waits = await waitsAfter(context, write, held.thread, written)
    const receipt: StateReceipt = { checkpointId: written, appliedThroughSeq: held.head }
    await retryConflicts(() => recordWrite(context, write, held, waits, receipt))
    return receipt
  } catch (error) {
    const refused = error instanceof AgentInputError || error instanceof RunError
    await releaseLease(
      store,
      threadId,
      held.token,
      refused && written === undefined ? deleteReceipt(command) : [],
    )
    if (!(error instanceof FencedError)) throw withoutRefusalText(context, { threadId }, error)
    const message =
      'The thread was deleted, or taken over by another process, while its state was being written.'
    throw new RunError('thread_busy', message, { cause: error })
  } finally {
    stopRenewing()
    await context.recover(threadId)
  }
}

interface Held {
  readonly thread: ThreadRecord
  readonly token: number
  /** The log's last sequence number. */
  readonly head: number
  /** The id of the checkpoint, if a lost process has already written it. */
  readonly written: string | undefined
}

/** The interval of checks whether the same command has ended in another request. */
const POLL_MS = 50

/**
 * Claims a free thread's lease, or returns the earlier result of the same command. The record is not written
 * yet, so that a rejected update does not create a thread.
 */
async function holdThread(context: RunContext, write: StateWrite): Promise<Held | StateReceipt> {
  const { store } = context
  const { threadId, command } = write
  const { state, read, docs } =
    (write.looked?.loaded as LoadedStart | undefined) ??
    (await loadWithState(store, threadId, ...receiptKey(command)))
  const known = read?.record ?? { ...newThread(threadId, write.owner, state.now), ...threadOf(write) }
  if ((read || !write.newThread) && !reaches(write, known)) throw noSuchThread(threadId)
  const thread = known
  assertTtl(context, write.newThread?.assistantId, write.newThread?.ttl)
  if (read && write.newThread) throw new RunError('thread_busy', 'The thread already exists.')
  if (!read && (await isOrphaned(context, write))) throw orphanedThread(threadId)
  const { receipt, inFlight: unsettled, guards } = readReceipt(command, docs[0])
  if (receipt) {
    if ('checkpointId' in receipt) return receipt
    throw concurrentDuplicate()
  }
  if (isHeld(state) && unsettled?.token === state.token) {
    await sleep(POLL_MS)
    return holdAgain(context, write)
  }
  if (thread.deleting || thread.restStatus || isHeld(state)) {
    throw new RunError(
      'thread_busy',
      'The thread has a run in progress. Wait for it or cancel it, then write the state.',
    )
  }
  if (thread.activeRunId !== null) {
    await context.recover(threadId)
    return holdAgain(context, write)
  }
  const { checkpointer } = addressOf(context, thread, {})
  const base = command ? await newestCheckpointId(checkpointer, threadId, write.checkpointNs) : null
  const written = unsettled ? checkpointOfLostWriter(unsettled, base, state) : undefined
  const token = nextToken(state)
  await store.commit(threadId, {
    guards: [guardThread(threadId, read), { guard: 'free' }, ...guards],
    ops: [
      claimLease(context, token),
      ...putInFlight(command, { token, base: written === undefined ? base : unsettled!.base }),
    ],
  })
  return { thread, token, head: state.head, written }
}

/** Reads the thread again. What was decided on a look is decided again by the caller. */
function holdAgain(context: RunContext, write: StateWrite): Promise<Held | StateReceipt> {
  if (write.looked) throw new ConflictError('The thread has changed.')
  return holdThread(context, write)
}

const threadOf = ({ newThread: { assistantId, metadata = {}, ttl } = {} }: StateWrite) => ({
  assistantId: assistantId ?? null,
  metadata: boundedMetadata(metadata),
  ttl,
})

/**
 * The checkpoint of a process that was lost during a write: the newest one, if it is new and no other process
 * has claimed the thread since. Throws `outcome_unknown` if one has.
 */
function checkpointOfLostWriter({ token, base }: InFlight, newest: string | null, state: PartitionState) {
  if (newest === base || newest === null) return undefined
  if (state.token === token) return newest
  throw new RunError(
    'outcome_unknown',
    'The server stopped while it was writing this state, and the thread has changed since. Read the state, and if the values are missing, send them with a new key.',
  )
}

/** Writes the checkpoint and returns its id. */
async function putCheckpoint(
  context: RunContext,
  write: StateWrite,
  { thread, token }: Held,
): Promise<string> {
  const agent = readerOf(context, thread.assistantId)
  const address = addressOf(context, thread, write)
  if (write.checkpointId !== undefined) await requireCheckpoint(address)
  const checkpointer = fencedCheckpointer(address.checkpointer, context.store, write.threadId, token)
  const at = { ...address, checkpointer }
  const { steps } = write
  if (!steps) return (await agent.updateState(at, write)).checkpointId
  if (!agent.bulkUpdateState)
    throw new RunError('not_supported', 'This agent does not support updates in several steps.')
  return (await agent.bulkUpdateState(at, steps)).checkpointId
}

type Waits = Pick<ThreadRecord, 'interrupts' | 'status'>

/**
 * What the thread waits for after the write: its open interrupts, or to continue from a breakpoint. A write
 * to a subgraph does not change the root's checkpoint, which shows both.
 */
async function waitsAfter(
  context: RunContext,
  write: StateWrite,
  thread: ThreadRecord,
  checkpointId: string,
): Promise<Waits> {
  const agent = readerOf(context, thread.assistantId)
  const isOfRoot = !write.checkpointNs
  const at = isOfRoot
    ? { ...addressOf(context, thread, write), checkpointId }
    : addressOf(context, thread, {})
  const snapshot = await agent.getState(at)
  if (snapshot) {
    const interrupts = openInterrupts(snapshot, thread.interrupts)
    const wasAtBreakpoint = thread.status === 'interrupted' && thread.interrupts.length === 0
    const waits = interrupts.length > 0 || (wasAtBreakpoint && snapshot.next.length > 0)
    return { interrupts, status: waits ? 'interrupted' : 'idle' }
  }
  if (!isOfRoot) return thread
  throw new RunError('no_such_checkpoint', 'The written checkpoint could not be read back.')
}

async function recordWrite(
  context: RunContext,
  write: StateWrite,
  held: Held,
  { interrupts, status }: Waits,
  receipt: StateReceipt,
): Promise<void> {
  const { store } = context
  const { threadId } = write
  const { state, read } = await loadWithState(store, threadId)
  const { now } = state
  const thread = read?.record ?? held.thread
  const changed: ThreadRecord = {
    ...thread,
    title: thread.title ?? write.title ?? null,
    interrupts,
    // A run with a start time may have been added in the meantime.
    ...resting(thread, status),
    restoredCheckpointId: null,
    restoredWrites: undefined,
    supersededThroughSeq: write.checkpointId === undefined ? thread.supersededThroughSeq : held.head,
    updatedAt: now,
    stateUpdatedAt: now,
  }
  const abandoned = status === 'interrupted' ? [] : await giveUpAnswer(store, thread, { now })
  await store.commit(threadId, {
    guards: [guardThread(threadId, read), { guard: 'fence', token: held.token }],
    ops: [
      ...abandoned,
      putThread(changed),
      ...putReceipt(write.command, receipt),
      { op: 'release', token: held.token },
    ],
  })
}
