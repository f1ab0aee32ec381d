import type { Agent, RunInput } from '../../agents/agent.ts'
import { toJson } from '../../agents/to-json.ts'
import { uuid7 } from '../../core/ids.ts'
import { reaches } from '../../core/principal.ts'
import { isRecord } from '../../messages/record.ts'
import { isHeld } from '../../storage/coordination/leases.ts'
import { ConflictError } from '../../storage/errors.ts'
import { agentOf, assertOpen, beforeClose, checkpointerOf, idOf, type RunContext } from '../context.ts'
import { commandInTime, saverInTime } from '../deadlines.ts'
import { noSuchThread, RunError } from '../errors.ts'
import {
  concurrentDuplicate,
  putReceipt,
  type RunReceipt,
  readReceipt,
  receiptKey,
} from '../records/idempotency.ts'
import {
  EMPTY,
  inspected,
  loadWithState,
  newThread,
  type RunRecord,
  type StoredConfig,
  type ThreadRecord,
} from '../records/records.ts'
import { boundedMetadata, requireFewKeys, retryConflicts } from '../records/thread.ts'
import type { AcceptedRun, LoadedStart, Owned, RunRequest } from '../requests.ts'
import { joinAnswer, linkToAnswer } from '../threads/answer-link.ts'
import { isOrphaned, orphanedThread } from '../threads/savers.ts'
import { openQuestions, questionsBeforeInput, requireCheckpoint } from '../threads/state.ts'
import { savedThread } from '../threads/threads.ts'
import { enqueue } from './enqueue.ts'
import { execute, startNext, startWaiting } from './execute.ts'
import { claimThread } from './launch.ts'

/** A run to start, whose `start` is its input or its answers. */
export type StartRequest = Owned<Omit<RunRequest, 'input'>> &
  Pick<RunRequest, 'principal'> & { readonly start: RunInput }

/**
 * Accepts a run: starts it at once if the thread is free, otherwise applies the strategy. Resolves when the
 * run is recorded, not when it ends. Throws `RunError`; a rejected run changes nothing.
 */
export async function acceptRun(context: RunContext, request: StartRequest): Promise<AcceptedRun> {
  assertOpen(context)
  if (request.assistantId !== undefined) agentOf(context, request.assistantId)
  let config: Promise<StoredConfig> | undefined
  const configFor: ConfigFor = (agent) => (config ??= configOf(agent, request))
  let isFirst = true
  const attempt = async (): Promise<AcceptedRun> => {
    const seen = isFirst ? await seenOf(context, request) : undefined
    // After a conflict the values have changed.
    isFirst = false
    return admit(context, request, configFor, seen)
  }
  // What was decided on a look is decided again by the caller.
  const accepted = () => (request.looked ? attempt() : retryConflicts(attempt))
  return commandInTime(context, joinAnswer(context, request).then(accepted))
}

export const startRun = async (context: RunContext, request: StartRequest): Promise<RunReceipt> =>
  (await acceptRun(context, request)).receipt

/** What is already known about the thread, without reading it. */
async function seenOf(
  context: RunContext,
  { threadId, isNewThread, looked }: StartRequest,
): Promise<LoadedStart | undefined> {
  if (!isNewThread) return looked?.loaded as LoadedStart | undefined
  return inspected({ ...NEVER, now: await context.storeNow(threadId), docs: [] })
}

/** The state of a partition before its first commit. */
const NEVER = { head: 0, firstRetained: 1, token: 0, lease: undefined }

type ConfigFor = (agent: Agent) => Promise<StoredConfig>

/** The config of the run, with the context that its agent reads from the request. */
async function configOf(agent: Agent, asked: StartRequest): Promise<StoredConfig> {
  const { threadId, principal = null, request, start, context } = asked
  const { config = { configurable: {} } } = asked
  if (config.context !== undefined) return config
  const input = start.kind === 'input' ? start.value : undefined
  const made = toJson(await agent.context?.({ threadId, principal, request, input }))
  const both = isRecord(made) ? { ...context, ...made } : (made ?? context)
  return both === undefined ? config : { ...config, context: both }
}

async function admit(
  context: RunContext,
  request: StartRequest,
  configFor: ConfigFor,
  seen?: LoadedStart,
): Promise<AcceptedRun> {
  const { store } = context
  const { threadId, command } = request
  requireBounds(request)
  const isNewThread = seen !== undefined && request.isNewThread
  const { state, now, read, docs } = seen ?? (await loadWithState(store, threadId, ...receiptKey(command)))
  const usable = await usableThread(context, read?.record, request)
  const thread = usable ?? newThreadFor(request, state.now)
  const assistantId = assistantOf(context, thread, request)
  const agent = agentOf(context, assistantId)
  const known = readReceipt(command, docs[0])
  if (known.receipt && 'runId' in known.receipt) return { receipt: known.receipt }
  if (known.receipt || known.inFlight) throw concurrentDuplicate()
  await requireItsCheckpoint(context, agent, request)
  const held = isHeld(state)
  if (!held && thread.activeRunId !== null) {
    await context.recover(threadId)
    throw new ConflictError('The run of the thread was lost.')
  }

  const busy = held || thread.queue.length > 0
  const start = await answerWithInput(context, thread, request, busy)
  if (start.kind === 'input' && start.value !== null) await agent.validateInput?.(start.value)
  const answers = await requireOpen(context, thread, start)
  const config = await configFor(agent)
  const runId = request.runId ?? uuid7()
  const task = await linkToAnswer(context, thread, start, { ...request, runId, now: state.now })
  const run = newRun({ ...request, runId, assistantId, config, task }, start, state.now)
  const receipt: RunReceipt = { runId: run.runId, appliedThroughSeq: state.head }
  const extra = {
    guards: known.guards,
    ops: [...putReceipt(command, receipt), ...(request.extraOps ?? [])],
  }
  const changed = changedBy(request, { ...thread, assistantId, updatedAt: state.now })
  const startsAt = request.startAfterMs ? state.now + request.startAfterMs : undefined
  // The server may have started to close during the calls above.
  assertOpen(context)
  if (busy || startsAt !== undefined || !context.slots.tryAcquire(thread.owner)) {
    if (!read && (await isOrphaned(context, thread))) throw orphanedThread(threadId)
    // On a free thread the run only waits for a slot, whatever its strategy.
    const waiting: RunRecord = busy ? run : { ...run, multitaskStrategy: 'enqueue' }
    await enqueue(context, { read, thread: changed, run: waiting, answers, startsAt, ...extra })
    // The process that held the thread may have released it before it could see this run.
    await startNext(context, threadId)
    return { receipt }
  }
  const claim = claimThread(context, { read, thread: changed, run, state, now, isNewThread, ...extra })
  // Another run may wait for the slot that a failed claim releases.
  claim.catch(() => void beforeClose(context, startWaiting(context)))
  const launched = await claim
  const records = launched.records.known()
  void execute(context, launched)
  return { receipt, records }
}

function requireBounds({ start, context }: StartRequest): void {
  if (start.kind === 'input') requireFewKeys('input', start.value)
  else requireFewKeys('update', start.update)
  requireFewKeys('context', context)
}

async function requireItsCheckpoint(
  context: RunContext,
  agent: Agent,
  { threadId, checkpointId, config }: StartRequest,
): Promise<void> {
  if (typeof checkpointId !== 'string') return
  const at = { threadId, checkpointId, checkpointNs: config?.checkpointNs }
  await saverInTime(context, requireCheckpoint({ ...at, checkpointer: checkpointerOf(context, agent) }))
}

const newThreadFor = (
  { threadId, owner, metadata = {}, temporary, ttl }: StartRequest,
  now: number,
): ThreadRecord => ({
  ...newThread(threadId, owner, now),
  metadata: boundedMetadata(metadata),
  ...(temporary && { temporary: true }),
  ...(ttl && { ttl }),
})

/** The thread with what the request says about it. */
const changedBy = (
  { title, threadMetadata, threadConfig }: StartRequest,
  thread: ThreadRecord,
): ThreadRecord => ({
  ...thread,
  title: thread.title ?? title ?? null,
  ...(threadMetadata && { metadata: boundedMetadata({ ...thread.metadata, ...threadMetadata }) }),
  ...(threadConfig && { config: threadConfig }),
})

const newRun = (
  request: StartRequest & Pick<RunRecord, 'runId' | 'assistantId' | 'config' | 'task'>,
  start: RunInput,
  now: number,
): RunRecord => ({
  runId: request.runId,
  threadId: request.threadId,
  assistantId: request.assistantId,
  status: 'pending',
  start,
  checkpointId: request.checkpointId === null ? EMPTY : (request.checkpointId ?? null),
  config: request.config,
  multitaskStrategy: request.multitaskStrategy ?? 'enqueue',
  createdAt: now,
  startedAt: null,
  traceparent: request.traceparent ?? null,
  cancel: null,
  firstSeq: null,
  attempts: 0,
  rollbackPoint: null,
  error: null,
  ...(request.task && { task: request.task }),
  ...(request.classic && { classic: request.classic }),
  ...(request.details !== undefined && { details: request.details }),
})

/** The existing thread, or undefined if a new one is to be created. Throws if the caller may not use it. */
async function usableThread(
  context: RunContext,
  thread: ThreadRecord | undefined,
  request: StartRequest,
): Promise<ThreadRecord | undefined> {
  const { threadId, assistantId, start, mustExist = false } = request
  if (!thread) {
    if (start.kind === 'resume') throw noSuchThread(threadId)
    if (mustExist && !(await savedThread(context, request))) throw noSuchThread(threadId)
    return undefined
  }
  if (!reaches(request, thread) || (thread.deleting && mustExist)) throw noSuchThread(threadId)
  if (thread.deleting) throw new RunError('thread_busy', 'The thread is being deleted.')
  const bound = thread.assistantId
  if (assistantId !== undefined && bound !== null && idOf(context, bound) !== idOf(context, assistantId)) {
    agentOf(context, bound)
    throw new RunError(
      'invalid_argument',
      `The thread is bound to assistant ${JSON.stringify(bound)}. Use that one, or start a new thread.`,
    )
  }
  return thread
}

function assistantOf(context: RunContext, thread: ThreadRecord, request: StartRequest): string {
  const assistantId = request.assistantId ?? thread.assistantId ?? context.defaultAgent
  if (assistantId !== undefined) return idOf(context, assistantId)
  throw new RunError('invalid_argument', 'assistant_id: name the assistant to run.')
}

/**
 * A new input answers the open interrupt, as the protocol requires, even while the run that asked is active.
 * After a failed run it is a new input, because its sender may not expect that the interrupt is still open.
 */
async function answerWithInput(
  context: RunContext,
  thread: ThreadRecord,
  request: StartRequest,
  waits: boolean,
): Promise<RunInput> {
  const { start, checkpointId, multitaskStrategy = 'enqueue', answer, classic } = request
  // Requests for an answer and REST requests distinguish inputs and answers themselves.
  if (start.kind !== 'input' || start.value === null || checkpointId !== undefined) return start
  if (answer || classic) return start
  if (waits && multitaskStrategy !== 'enqueue') return start
  const open = await questionsBeforeInput(context, thread)
  const [first, ...others] = open.filter(({ runId }) => runId !== '')
  if (!first) return start
  if (others.length > 0) {
    throw new RunError(
      'invalid_argument',
      'Several interrupts are waiting for an answer. Answer them by id with input.respond.',
    )
  }
  return { kind: 'resume', answers: { [first.id]: start.value } }
}

/** The interrupts that a resume answers. Throws unless each is open and not yet answered by a waiting run. */
async function requireOpen(
  context: RunContext,
  thread: ThreadRecord,
  start: RunInput,
): Promise<readonly string[]> {
  if (start.kind !== 'resume') return []
  const answers = Object.keys(start.answers)
  if (answers.length === 0) return []
  const open = new Set((await openQuestions(context, thread)).map(({ id }) => id))
  for (const id of answers) {
    if (!open.has(id)) {
      throw new RunError(
        'no_such_interrupt',
        `Interrupt ${JSON.stringify(id)} is not waiting for an answer on this thread.`,
      )
    }
  }
  return answers
}
