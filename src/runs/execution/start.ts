import type { RunInput, StateAddress } from '../../agents/agent.ts'
import { uuid7 } from '../../ids.ts'
import { agentOf, checkpointerOf, type RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { launchNext } from '../queue.ts'
import {
  type CommandKey,
  loadReceipt,
  putReceipt,
  type Started,
  sentTwiceAtOnce,
} from '../records/idempotency.ts'
import {
  loadThread,
  type MultitaskStrategy,
  newThread,
  type RunRecord,
  type StoredConfig,
  type ThreadRecord,
} from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import { recoverThread } from '../rescue.ts'
import { enqueue } from './enqueue.ts'
import { execute } from './execute.ts'
import { claimThread } from './launch.ts'
import { isHeld } from './lease.ts'

export interface StartRequest {
  readonly threadId: string
  readonly owner: string | null
  readonly assistantId: string
  readonly start: RunInput
  /** Default: enqueue. */
  readonly multitaskStrategy?: MultitaskStrategy | undefined
  /** Fork from here. */
  readonly checkpointId?: string | undefined
  readonly config?: StoredConfig | undefined
  /** Kept when the thread has none yet. */
  readonly title?: string | undefined
  /** Given again, it starts no second run. */
  readonly command?: CommandKey | undefined
}

/**
 * Accepts a run: starts it at once when the thread is free, else does what the strategy says. Returns when the run is
 * recorded, not when it ends. Throws `RunError`; a refused run changes nothing.
 */
export async function startRun(context: RunContext, request: StartRequest): Promise<Started> {
  if (context.closing.signal.aborted) throw new RunError('closing', 'The server is shutting down. Try again.')
  agentOf(context, request.assistantId)
  return retryConflicts(() => admit(context, request))
}

async function admit(context: RunContext, request: StartRequest): Promise<Started> {
  const { store } = context
  const { threadId, checkpointId, command } = request
  const state = await store.inspect(threadId)
  const read = await loadThread(store, threadId)
  const thread = requireUsable(read?.record, request) ?? newThread(threadId, request.owner, state.now)
  const known = await loadReceipt(store, threadId, command)
  if (known.receipt && 'runId' in known.receipt) return known.receipt
  if (known.receipt || known.inFlight) throw sentTwiceAtOnce()
  if (checkpointId !== undefined) {
    const checkpointer = checkpointerOf(context, agentOf(context, request.assistantId))
    await requireCheckpoint({ threadId, checkpointId, checkpointer })
  }
  const held = isHeld(state)
  if (!held && thread.activeRunId !== null) {
    await recoverThread(context, threadId)
    return admit(context, request)
  }

  const waits = held || thread.queue.length > 0
  const start = waits ? request.start : answerWithInput(thread, request)
  if (start.kind === 'input' && start.value !== null) {
    await agentOf(context, request.assistantId).validateInput?.(start.value)
  }
  const answers = requireOpen(thread, start)
  const run = newRun(request, start, state.now)
  const started: Started = { runId: run.runId, appliedThroughSeq: state.head }
  const extra = { guards: known.guards, ops: putReceipt(command, started) }
  const changed: ThreadRecord = {
    ...thread,
    assistantId: request.assistantId,
    title: thread.title ?? request.title ?? null,
    updatedAt: state.now,
  }
  if (waits) {
    await enqueue(context, { read, thread: changed, run, answers, ...extra })
    // Whoever held the thread may have left before it could see this run.
    const next = await launchNext(context, threadId)
    if (next) void execute(context, next)
  } else {
    const launched = await claimThread(context, { read, thread: changed, run, state, ...extra })
    void execute(context, launched)
  }
  return started
}

const newRun = (request: StartRequest, start: RunInput, now: number): RunRecord => ({
  runId: uuid7(),
  threadId: request.threadId,
  assistantId: request.assistantId,
  status: 'pending',
  start,
  checkpointId: request.checkpointId ?? null,
  config: request.config ?? { configurable: {} },
  multitaskStrategy: request.multitaskStrategy ?? 'enqueue',
  createdAt: now,
  cancel: null,
  attempts: 0,
  rollbackPoint: null,
  error: null,
})

function requireUsable(thread: ThreadRecord | undefined, request: StartRequest): ThreadRecord | undefined {
  if (!thread) {
    if (request.start.kind === 'resume') throw noSuchThread(request.threadId)
    return undefined
  }
  if (thread.owner !== request.owner) throw noSuchThread(request.threadId)
  if (thread.deleting) throw new RunError('thread_busy', 'The thread is being deleted.')
  if (thread.assistantId !== null && thread.assistantId !== request.assistantId) {
    throw new RunError(
      'invalid_argument',
      `The thread is bound to assistant ${JSON.stringify(thread.assistantId)}. Use that one, or start a new thread.`,
    )
  }
  return thread
}

export const noSuchThread = (threadId: string): RunError =>
  new RunError('no_such_thread', `Thread ${JSON.stringify(threadId)} not found.`)

/** An unknown checkpoint does not fail inside LangGraph: it starts from an empty state. So it is refused before. */
export async function requireCheckpoint(at: StateAddress): Promise<void> {
  const { threadId, checkpointId, checkpointNs = '' } = at
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId }
  // Savers take an empty id for the newest one.
  if ((await at.checkpointer.getTuple({ configurable }))?.checkpoint.id === checkpointId) return
  throw new RunError(
    'no_such_checkpoint',
    `Checkpoint ${JSON.stringify(checkpointId)} not found on this thread.`,
  )
}

/** On an interrupted thread a new input is the answer, as the protocol has it. */
function answerWithInput(thread: ThreadRecord, { start, checkpointId }: StartRequest): RunInput {
  if (start.kind !== 'input' || start.value === null || checkpointId !== undefined) return start
  const [first, ...others] = thread.interrupts
  if (!first) return start
  if (others.length > 0) {
    throw new RunError(
      'invalid_argument',
      'Several interrupts wait for an answer. Answer them by id with input.respond.',
    )
  }
  return { kind: 'resume', answers: { [first.id]: start.value } }
}

/** The interrupts a resume answers, each open and not yet answered by a run that waits. */
function requireOpen(thread: ThreadRecord, start: RunInput): readonly string[] {
  if (start.kind !== 'resume') return []
  const answers = Object.keys(start.answers)
  const open = new Set(thread.interrupts.map(({ id }) => id))
  for (const queued of thread.queue) for (const id of queued.answers) open.delete(id)
  for (const id of answers) {
    if (!open.has(id)) {
      throw new RunError(
        'no_such_interrupt',
        `Interrupt ${JSON.stringify(id)} does not wait for an answer on this thread.`,
      )
    }
  }
  return answers
}
