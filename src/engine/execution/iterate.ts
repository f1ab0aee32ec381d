import type { Agent, AgentTask } from '../../agents/agent.ts'
import { stateEvents } from '../../agents/root-events.ts'
import type { Principal } from '../../core/principal.ts'
import { nextTurn, within } from '../../core/time.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { retryUnavailable } from '../../storage/coordination/retry.ts'
import { FencedError } from '../../storage/errors.ts'
import { agentOf, checkpointerOf, type LaunchedRun, type RunContext } from '../context.ts'
import { deadlineOf, saverInTime } from '../deadlines.ts'
import { RunError } from '../errors.ts'
import { EMPTY, type RunRecord, type StopReason } from '../records/records.ts'
import { aboutRun } from '../records/transition.ts'
import type { AgentOutcome } from './outcome.ts'
import { createWriteGate, type WriteGate } from './saver/write-gate.ts'

/** What an attempt gives its agent. */
interface Surroundings {
  record(event: AgentEvent): Promise<void> | undefined
  /** Settles when the recorded events are in the log. */
  flush(): Promise<void>
  /** The agent's checkpointer. The signal aborts when the agent is stopped. */
  saverOf(writes: WriteGate, signal: AbortSignal): Checkpointer
}

/**
 * Iterates the agent until it ends, throws or is stopped. However it was stopped, no state is written unless
 * its events are in the log: events for a checkpoint that is being written are still recorded, events that
 * are missing for a written checkpoint are created, and later writes are rejected.
 */
export async function iterateAgent(
  context: RunContext,
  launched: LaunchedRun,
  signal: AbortSignal,
  { record, flush, saverOf }: Surroundings,
): Promise<AgentOutcome> {
  let steps: AgentSteps | undefined
  let wait: Promise<void> | undefined
  /** The agent also stops if its events cannot be recorded, and must know that it was not cancelled. */
  const stop = new AbortController()
  const isShared = context.store.capabilities.shared
  const writes = createWriteGate({ recorded: () => whenRecorded(() => wait), flush, isShared })
  let stoppedAt = 0
  let isWriting = false
  const onAbort = (): void => {
    stoppedAt = performance.now()
    if (keepsState(signal.reason)) isWriting = writes.underWay() > 0 || writes.unreported().length > 0
    else writes.shut({ isUndone: signal.reason === 'rollback' })
    stop.abort(signal.reason)
  }
  const stopped = async (): Promise<AgentOutcome> => {
    const reason = signal.reason as StopReason | RunError
    // Another process continues the run.
    if (reason === 'hand over' || reason === 'fenced') return { end: 'stopped', reason }
    await settle(context, writes, context.cancelGraceMs - (performance.now() - stoppedAt))
    if (reason !== 'rollback') await recordLast(context, launched, steps, writes.unreported(), record)
    return reason instanceof RunError ? { end: 'failed', error: reason } : { end: 'stopped', reason }
  }
  /** Whether the run was stopped, and the agent sends nothing more for what it was writing at that time. */
  const isStopped = (): boolean => signal.aborted && !isWriting
  if (signal.aborted) return stopped()
  signal.addEventListener('abort', onAbort)
  try {
    steps = openAgent(context, launched, stop.signal, writes, saverOf(writes, stop.signal))
    for (;;) {
      const step = await steps.next()
      if (step.done) return signal.aborted ? await stopped() : { end: 'done' }
      if (isStopped()) return await stopped()
      wait = record(step.value)
      if (wait) await wait
      wait = undefined
      writes.note(step.value)
      if (isStopped()) return await stopped()
    }
  } catch (error) {
    wait = undefined
    stop.abort(error)
    if (error instanceof FencedError) throw error
    return signal.aborted ? await stopped() : { end: 'failed', error }
  } finally {
    writes.shut()
    signal.removeEventListener('abort', onAbort)
    void steps?.close()
  }
}

/**
 * Settles when all events that the agent has sent so far were recorded. Without backpressure they arrive
 * within this turn of the event loop.
 */
async function whenRecorded(wait: () => Promise<void> | undefined): Promise<void> {
  do {
    await wait()
    await nextTurn()
  } while (wait())
}

/** Waits for the writes that are under way, and lets no others pass after some time. */
async function settle(context: RunContext, writes: WriteGate, graceMs: number): Promise<void> {
  await within(graceMs, writes.settled())
  writes.shut()
  await within(deadlineOf(context), writes.settled())
}

/** Whether a run that is stopped this way keeps its state. */
const keepsState = (reason: StopReason | RunError): boolean =>
  reason instanceof RunError || reason === 'interrupt' || reason === 'close'

/**
 * Records state that no event has reported yet, lets a cancelled agent write its unsaved output, and records
 * the events of both.
 */
async function recordLast(
  context: RunContext,
  launched: LaunchedRun,
  steps: AgentSteps | undefined,
  unreported: readonly string[],
  record: (event: AgentEvent) => Promise<void> | undefined,
): Promise<void> {
  const { threadId, runId } = launched.run
  try {
    for (const id of unreported)
      for (const event of await eventsOf(context, launched, id)) await record(event)
    for (const event of (await steps?.saveStopped()) ?? []) await record(event)
  } catch (error) {
    if (error instanceof FencedError) throw error
    context.report(error, { threadId, runId })
  }
}

/** The events of a checkpoint that the agent did not report, because it was stopped. */
async function eventsOf(
  context: RunContext,
  { run: { threadId, assistantId } }: LaunchedRun,
  checkpointId: string,
): Promise<readonly AgentEvent[]> {
  const agent = agentOf(context, assistantId)
  const at = { threadId, checkpointer: checkpointerOf(context, agent), checkpointId }
  const read = () => agent.getState(at)
  const snapshot = await saverInTime(context, retryUnavailable(context.retryForMs, read))
  return snapshot ? stateEvents(snapshot) : []
}

interface AgentSteps {
  next(): Promise<IteratorResult<AgentEvent>>
  /**
   * Runs the agent's `AgentTask.onStop` function after a cancel. Returns nothing if the agent did not stop in
   * time.
   */
  saveStopped(): Promise<readonly AgentEvent[]>
  /** Settles when the agent has ended. */
  close(): Promise<void>
}

function openAgent(
  context: RunContext,
  launched: LaunchedRun,
  signal: AbortSignal,
  writes: WriteGate,
  checkpointer: Checkpointer,
): AgentSteps {
  const { run, thread } = launched
  const { threadId, runId, assistantId } = run
  const task: AgentTask = {
    threadId,
    runId,
    assistantId,
    start: run.start,
    checkpointId:
      run.checkpointId === EMPTY ? undefined : (run.checkpointId ?? thread.restoredCheckpointId ?? undefined),
    config: run.config,
    classic: run.classic,
    maxRecursionLimit: context.limits.recursionLimit,
    principal: principalOf(run),
    checkpointer,
    graphStore: context.graphStores.of(thread.owner),
    signal,
    onModelCall: (call) => context.observe({ ...aboutRun(thread, run), type: 'run.model_called', call }),
  }
  return interruptible(context, agentOf(context, assistantId), task, writes)
}

/** The principal that requested a run. The user that graphs see may lack the id. */
function principalOf({ config }: RunRecord): Principal | null {
  const { langgraph_auth_user: user, langgraph_auth_user_id: id } = config.configurable
  return user ? { ...(user as Principal), ...(typeof id === 'string' && { id }) } : null
}

/**
 * The agent's events, without waiting for an agent that ignores its signal: after a stop, `next` gives the
 * agent a grace period to settle, because its last checkpoint may not be written yet, and then ends without
 * it.
 */
function interruptible(context: RunContext, agent: Agent, task: AgentTask, writes: WriteGate): AgentSteps {
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

  /** Asks the agent to end. It may never end: its later writes are fenced. */
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
        if (isLate) giveUp()
        iterator.next().then(resolve, reject)
      }),
    async saveStopped() {
      await new Promise<void>((resolve) => {
        giveUp = resolve
        void end().then(resolve)
        if (isLate) resolve()
      })
      if (!hasEnded || isLate || !save) return []
      return saverInTime(context, writes.reopenFor(save))
    },
    close() {
      clearTimeout(timer)
      return end()
    },
  }
}
