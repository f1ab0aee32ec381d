import type { Agent, AgentEvent, AgentTask } from '../../agents/agent.ts'
import type { Principal } from '../../principal.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { labelledCheckpointer } from '../../storage/checkpointer/labelled.ts'
import { retryingCheckpointer, retryUnavailable } from '../../storage/checkpointer/retrying.ts'
import { FencedError } from '../../storage/errors.ts'
import { nextTurn } from '../../time.ts'
import {
  type ActiveRun,
  agentOf,
  beforeClose,
  checkpointerOf,
  closeReason,
  type LaunchedRun,
  type RunContext,
  type StopReason,
} from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { RunError } from '../errors.ts'
import { reportFailure, withoutErrorText } from '../failures.ts'
import { type Appender, createAppender } from '../log/appender.ts'
import { readLog } from '../log/decode.ts'
import { interruptIdOf, type RecordedEvent, type Topic } from '../log/frame.ts'
import type { RunUsage } from '../observe.ts'
import { expireLease } from '../records/leases.ts'
import { guardThread, loadThread, type OpenInterrupt, putThread, type RunRecord } from '../records/records.ts'
import { aboutRun } from '../records/transition.ts'
import { retryConflicts, updateThread } from '../records/update.ts'
import { finish, type Leftover, type Outcome } from './finish.ts'
import { launchNext } from './launch.ts'
import { handOver, superviseRun } from './lease.ts'
import { orderedCheckpointer } from './ordered-saver.ts'
import { createRetraction, endsOf, type LostMessages, lostMessages } from './supersede.ts'
import { type StorageHealth, watchedCheckpointer } from './watched-saver.ts'

/**
 * Executes a run to its end (events into the log, one terminal event), then the runs that wait behind it, one after the other.
 * Never rejects.
 */
export function execute(context: RunContext, launched: LaunchedRun): Promise<void> {
  const { executing } = context
  const { threadId } = launched.run
  const work = beforeClose(context, executeThread(context, launched)).then(() => {
    if (executing.get(threadId) === work) executing.delete(threadId)
  })
  executing.set(threadId, work)
  return work
}

async function executeThread(context: RunContext, launched: LaunchedRun): Promise<void> {
  const { threadId } = launched.run
  const { owner } = launched.thread
  for (
    let next: LaunchedRun | undefined = launched;
    next;
    next = await launchAfter(context, threadId, owner)
  ) {
    const stop = new AbortController()
    // It was claimed while the server closed.
    if (context.closing.signal.aborted) stop.abort(closeReason(context, next.run.assistantId))
    const done = attempt(context, next, stop)
    const active: ActiveRun = {
      runId: next.run.runId,
      assistantId: next.run.assistantId,
      token: next.token,
      stop: (reason) => stop.abort(reason),
      done,
    }
    context.active.set(threadId, active)
    await done
    if (context.active.get(threadId) === active) context.active.delete(threadId)
    context.places.give(owner)
  }
}

/** The run that executes next on a thread, unless other threads have waited longer for a place. */
async function launchAfter(
  context: RunContext,
  threadId: string,
  owner: string | null,
): Promise<LaunchedRun | undefined> {
  const { waiting } = context.places
  if (waiting.size === 0) return launchNext(context, threadId)
  waiting.set(threadId, owner)
  await startWaiting(context)
  return undefined
}

/** Starts runs of threads that wait for a place, as far as there are places. */
export async function startWaiting(context: RunContext): Promise<void> {
  const { waiting, hasRoom } = context.places
  for (const [threadId, owner] of [...waiting]) {
    if (!hasRoom(owner) || !waiting.delete(threadId)) continue
    const launched = await launchNext(context, threadId)
    if (launched) void execute(context, launched)
  }
}

async function attempt(context: RunContext, launched: LaunchedRun, stop: AbortController): Promise<void> {
  const { thread, run, token } = launched
  try {
    await runToEnd(context, launched, stop)
  } catch (error) {
    // A fenced writer has lost the thread to another one, which tells the subscribers.
    if (error instanceof FencedError) return context.observe({ ...aboutRun(thread, run), type: 'run.fenced' })
    const { threadId, runId } = run
    context.report(error, { threadId, runId })
    // The run has no end yet: whoever finds the expired lease gives it one. A store that is still away lets it expire by itself.
    await expireLease(context.store, threadId, token).catch(() => {})
  }
}

async function runToEnd(context: RunContext, launched: LaunchedRun, stop: AbortController): Promise<void> {
  const { store, retryForMs } = context
  const { run, token, head } = launched
  const { threadId, runId } = run
  const { runMs, eventLength } = context.limits
  const appender = createAppender({ store, threadId, runId, token, head, retryForMs, eventLength })
  const timer = runMs <= MAX_TIMER_MS && setTimeout(() => stop.abort(tookTooLong(runMs)), runMs)
  const stopSupervising = superviseRun(context, launched, (reason) => stop.abort(reason))
  try {
    const storage: StorageHealth = { failed: false }
    const lost = run.attempts > 1 ? await readLost(context, run) : undefined
    for (const event of lost ? endsOf(lost) : []) void appender.push(event)
    const recorder = createRecorder(context, launched, appender, storage, lost && createRetraction(lost))
    const ended = await afterFlush(
      appender,
      await iterateAgent(context, launched, stop.signal, appender, recorder.record, storage),
      storage,
    )
    const outcome: Outcome =
      ended.end === 'failed'
        ? { ...ended, message: reportFailure(context, { threadId, runId }, ended.error, storage.failed) }
        : ended
    if (outcome.end === 'stopped' && outcome.reason === 'fenced') throw new FencedError('The lease was lost.')
    if (outcome.end === 'stopped' && outcome.reason === 'hand over') return await handOver(context, launched)
    await retryUnavailable(retryForMs, () =>
      finish(context, launched, appender, outcome, recorder.leftover()),
    )
  } finally {
    if (timer) clearTimeout(timer)
    stopSupervising()
  }
}

/** What earlier attempts have sent, before this one sends anything. */
function readLost({ store, retryForMs }: RunContext, run: RunRecord): Promise<LostMessages> {
  const { threadId, runId, firstSeq } = run
  const isMessage = (topic: Topic): boolean => topic.method === 'messages' && topic.runId === runId
  return retryUnavailable(retryForMs, () => lostMessages(readLog(store, threadId, isMessage, firstSeq ?? 0)))
}

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

const tookTooLong = (ms: number): RunError =>
  new RunError('limit_exceeded', `The run took longer than ${ms} ms and was stopped.`)

/** How an agent ended, before clients are told of it. */
type AgentOutcome =
  | Exclude<Outcome, { readonly end: 'failed' | 'lost' }>
  | { readonly end: 'failed'; readonly error: unknown }

/** The outcome once all events are in the log. A run whose last events could not be written has failed. */
async function afterFlush(
  appender: Appender,
  outcome: AgentOutcome,
  storage: StorageHealth,
): Promise<AgentOutcome> {
  try {
    await appender.flush()
    return outcome
  } catch (error) {
    if (error instanceof FencedError) throw error
    storage.failed = true
    return outcome.end === 'done' ? { end: 'failed', error } : outcome
  }
}

/** Iterates the agent until it ends, throws or is stopped. */
async function iterateAgent(
  context: RunContext,
  launched: LaunchedRun,
  signal: AbortSignal,
  appender: Appender,
  record: (event: AgentEvent) => Promise<void> | undefined,
  storage: StorageHealth,
): Promise<AgentOutcome> {
  let steps: AgentSteps | undefined
  let wait: Promise<void> | undefined
  /**
   * Settles when all events that the agent has sent by now are in the log. Without back-pressure they arrive here within this turn
   * of the event loop.
   */
  async function logged(): Promise<void> {
    do {
      await wait
      await nextTurn()
    } while (wait)
    // Events that came after the stop are not in the log, and another process sends them again.
    if (signal.reason === 'hand over') throw new FencedError('The run was handed over.')
    await appender.flush()
  }
  const stopped = async (): Promise<AgentOutcome> => {
    const reason = signal.reason as StopReason | RunError
    const overLimit = reason instanceof RunError
    if (overLimit || reason === 'interrupt' || reason === 'close')
      await recordLast(context, launched, steps, record)
    return overLimit ? { end: 'failed', error: reason } : { end: 'stopped', reason }
  }
  if (signal.aborted) return stopped()
  try {
    steps = openAgent(context, launched, signal, logged, storage)
    for (;;) {
      const step = await steps.next()
      if (signal.aborted) return await stopped()
      if (step.done) return { end: 'done' }
      wait = record(step.value)
      if (wait) await wait
      wait = undefined
      if (signal.aborted) return await stopped()
    }
  } catch (error) {
    wait = undefined
    if (error instanceof FencedError) throw error
    return signal.aborted ? await stopped() : { end: 'failed', error }
  } finally {
    void steps?.close()
  }
}

/** Lets a cancelled agent write what it has not saved yet, and records the events of that. */
async function recordLast(
  context: RunContext,
  { run: { threadId, runId } }: LaunchedRun,
  steps: AgentSteps | undefined,
  record: (event: AgentEvent) => Promise<void> | undefined,
): Promise<void> {
  try {
    for (const event of (await steps?.saveStopped()) ?? []) await record(event)
  } catch (error) {
    if (error instanceof FencedError) throw error
    context.report(error, { threadId, runId })
  }
}

interface AgentSteps {
  next(): Promise<IteratorResult<AgentEvent>>
  /** What the agent does after a cancel: see `AgentTask.onStop`. Nothing where it has not stopped in time. */
  saveStopped(): Promise<readonly AgentEvent[]>
  /** Settles when the agent has ended. */
  close(): Promise<void>
}

function openAgent(
  context: RunContext,
  { run, token, thread }: LaunchedRun,
  signal: AbortSignal,
  logged: () => Promise<void>,
  storage: StorageHealth,
): AgentSteps {
  const { threadId, runId, assistantId } = run
  const agent = agentOf(context, assistantId)
  const saver = fencedCheckpointer(checkpointerOf(context, agent), context.store, threadId, token)
  // The names are those of LangGraph's own servers.
  const ids = { thread_id: threadId, run_id: runId, graph_id: assistantId, assistant_id: assistantId }
  const labelled = labelledCheckpointer(saver, ids, run.config.metadata)
  const retrying = retryingCheckpointer(labelled, context.retryForMs)
  // Where the log is lost with the process, no other process continues the run.
  const ordered = context.store.capabilities.shared ? orderedCheckpointer(retrying, logged) : retrying
  const task: AgentTask = {
    threadId,
    runId,
    assistantId,
    start: run.start,
    checkpointId: run.checkpointId ?? thread.restoredCheckpointId ?? undefined,
    config: run.config,
    maxRecursionLimit: context.limits.recursionLimit,
    principal: (run.config.configurable.langgraph_auth_user as Principal | undefined) ?? null,
    checkpointer: watchedCheckpointer(ordered, storage),
    signal,
    onModelCall: (call) => context.observe({ ...aboutRun(thread, run), type: 'run.model_called', call }),
  }
  return interruptible(context, agent, task)
}

/**
 * The agent's events, without waiting for an agent that ignores its signal: after a stop, `next` gives the agent a grace time
 * to settle, because its last checkpoint may not be written yet, and then ends without it.
 */
function interruptible(context: RunContext, agent: Agent, task: AgentTask): AgentSteps {
  let save: (() => Promise<readonly AgentEvent[]>) | undefined
  const iterator = agent.stream({ ...task, onStop: (work) => (save = work) })[Symbol.asyncIterator]()
  const END = { done: true, value: undefined } as const
  let giveUp = () => {}
  let hasEnded = false
  let isLate = false
  let closed: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  task.signal.addEventListener('abort', () => {
    timer = setTimeout(() => {
      isLate = true
      giveUp()
    }, context.cancelGraceMs)
  })

  /** Asks the agent to end. It may never do so: its later writes are fenced. */
  function end(): Promise<void> {
    const ended = async () => {
      await iterator.return?.()
    }
    closed ??= ended().then(
      () => void (hasEnded = true),
      () => {},
    )
    return closed
  }

  return {
    next: () =>
      new Promise<IteratorResult<AgentEvent>>((resolve, reject) => {
        giveUp = () => resolve(END)
        iterator.next().then(resolve, reject)
      }),
    async saveStopped() {
      await new Promise<void>((resolve) => {
        giveUp = resolve
        void end().then(resolve)
        if (isLate) resolve()
      })
      return hasEnded && !isLate && save ? saverInTime(context, save()) : []
    },
    close() {
      clearTimeout(timer)
      return end()
    },
  }
}

/** Passes an attempt's events on to the log, and records the interrupts they announce and the tokens they report. */
function createRecorder(
  context: RunContext,
  { run, token, thread }: LaunchedRun,
  appender: Appender,
  storage: StorageHealth,
  retract: ((event: AgentEvent) => readonly RecordedEvent[]) | undefined,
) {
  const announced = new Map(thread.interrupts.map((interrupt) => [interrupt.id, interrupt]))
  const raised = new Map<string, OpenInterrupt>()
  let hasRestoredHead = thread.restoredCheckpointId !== null
  let usage: RunUsage | null = null
  let atBreakpoint = false

  function record(event: AgentEvent): Promise<void> | undefined {
    const { method, namespace } = event
    if (namespace.length === 0 && method === 'lifecycle') {
      atBreakpoint ||= (event.data as { readonly event?: unknown }).event === 'interrupted'
      return undefined
    }
    if (retract) for (const taken of retract(event)) void appender.push(taken)
    if (hasRestoredHead && method === 'checkpoints') {
      hasRestoredHead = false
      return forgetRestoredHead(event)
    }
    if (method === 'messages') usage = withUsage(usage, event.data)
    const id = method === 'input.requested' ? interruptIdOf(event) : undefined
    if (id === undefined) return appender.push(withoutErrorText(context, event, storage.failed))
    const before = announced.get(id)
    const interrupt = before ?? { id, runId: run.runId, namespace, value: payloadOf(event) }
    announced.set(id, interrupt)
    raised.set(id, interrupt)
    // A client that has seen the interrupt would list it twice.
    return before ? undefined : announce(event, interrupt)
  }

  /** Enters an interrupt into the thread's record with its event, because clients answer it as soon as they see it. */
  async function announce(event: AgentEvent, interrupt: OpenInterrupt): Promise<void> {
    const { threadId } = run
    try {
      await appender.flush()
      await retryConflicts(async () => {
        const now = await retryUnavailable(context.retryForMs, () => loadThread(context.store, threadId))
        if (!now) throw new FencedError('The thread was deleted.')
        const others = now.record.interrupts.filter(({ id }) => id !== interrupt.id)
        const record = putThread({ ...now.record, interrupts: [...others, interrupt] })
        await appender.commit([event], [guardThread(threadId, now)], [record])
      })
    } catch (error) {
      storage.failed = true
      throw error
    }
  }

  /** The run has written a checkpoint: from here on the newest one is the head again. */
  async function forgetRestoredHead(event: AgentEvent): Promise<void> {
    try {
      await retryUnavailable(context.retryForMs, () =>
        updateThread(context.store, run.threadId, (now) => ({ ...now, restoredCheckpointId: null }), {
          guards: [{ guard: 'fence', token }],
        }),
      )
    } catch (error) {
      storage.failed = true
      throw error
    }
    await appender.push(event)
  }

  return { record, leftover: (): Leftover => ({ raised: [...raised.values()], atBreakpoint, usage }) }
}

const payloadOf = (event: AgentEvent): unknown => (event.data as { readonly payload?: unknown }).payload

/** Adds the token counts that the end of a message reports. */
function withUsage(before: RunUsage | null, data: unknown): RunUsage | null {
  const { event, usage } = data as {
    readonly event?: unknown
    readonly usage?: { readonly input_tokens?: unknown; readonly output_tokens?: unknown } | null
  }
  if (event !== 'message-finish' || !usage) return before
  const { input_tokens: input, output_tokens: output } = usage
  return {
    inputTokens: (before?.inputTokens ?? 0) + (typeof input === 'number' ? input : 0),
    outputTokens: (before?.outputTokens ?? 0) + (typeof output === 'number' ? output : 0),
  }
}
