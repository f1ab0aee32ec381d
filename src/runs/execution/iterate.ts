import type { Agent, AgentTask } from '../../agents/agent.ts'
import { stateEvents } from '../../agents/root-events.ts'
import type { AgentEvent } from '../../events/index.ts'
import type { Principal } from '../../principal.ts'
import type { Checkpointer, CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { labelledCheckpointer } from '../../storage/checkpointer/labelled.ts'
import { overlay } from '../../storage/checkpointer/overlay.ts'
import { retryingCheckpointer, retryUnavailable } from '../../storage/checkpointer/retrying.ts'
import { mayHave } from '../../storage/checkpointer/shared.ts'
import { renewLease } from '../../storage/coordination/leases.ts'
import { FencedError } from '../../storage/errors.ts'
import { nextTurn, within } from '../../time.ts'
import { agentOf, checkpointerOf, type LaunchedRun, ownCheckpointerOf, type RunContext } from '../context.ts'
import { deadlineOf, saverInTime } from '../deadlines.ts'
import { RunError } from '../errors.ts'
import type { Appender } from '../log/appender.ts'
import { EMPTY, type RunRecord, type StopReason } from '../records/records.ts'
import { aboutRun } from '../records/transition.ts'
import { updateThread } from '../records/update.ts'
import type { AgentOutcome } from './outcome.ts'
import { renewingCheckpointer } from './saver/renewing-saver.ts'
import { type StorageHealth, watchedCheckpointer } from './saver/watched-saver.ts'
import { createWriteGate, type WriteGate } from './saver/write-gate.ts'

/**
 * Iterates the agent until it ends, throws or is stopped. However it was stopped, no state is written whose events are not in the log:
 * what the agent sends for a checkpoint that is being written is still recorded, what it has written and not told is told, and
 * what it would write later is refused.
 */
export async function iterateAgent(
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
   * Settles when all events that the agent has sent by now were recorded. Without back-pressure they arrive here within this turn of
   * the event loop.
   */
  async function recorded(): Promise<void> {
    do {
      await wait
      await nextTurn()
    } while (wait)
  }
  const isShared = context.store.capabilities.shared
  const writes = createWriteGate({ recorded, flush: () => appender.flush(), isShared })
  let stoppedAt = 0
  let isWriting = false
  const onAbort = (): void => {
    stoppedAt = performance.now()
    if (keepsState(signal.reason)) isWriting = writes.underWay() > 0 || writes.untold().length > 0
    else writes.shut({ isUndone: signal.reason === 'rollback' })
  }
  const stopped = async (): Promise<AgentOutcome> => {
    const reason = signal.reason as StopReason | RunError
    // Another process goes on with the run.
    if (reason === 'hand over' || reason === 'fenced') return { end: 'stopped', reason }
    await within(context.cancelGraceMs - (performance.now() - stoppedAt), writes.settled())
    writes.shut()
    await within(deadlineOf(context), writes.settled())
    if (reason !== 'rollback') await recordLast(context, launched, steps, writes.untold(), record)
    return reason instanceof RunError ? { end: 'failed', error: reason } : { end: 'stopped', reason }
  }
  /** Whether the stop has come, and the agent has nothing more to send for what it was writing then. */
  const isStopped = (): boolean => signal.aborted && !isWriting
  if (signal.aborted) return stopped()
  signal.addEventListener('abort', onAbort)
  try {
    steps = openAgent(context, launched, signal, appender, writes, storage)
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
    if (error instanceof FencedError) throw error
    return signal.aborted ? await stopped() : { end: 'failed', error }
  } finally {
    writes.shut()
    signal.removeEventListener('abort', onAbort)
    void steps?.close()
  }
}

/** Whether a run that is stopped ends with the state that it has. */
const keepsState = (reason: StopReason | RunError): boolean =>
  reason instanceof RunError || reason === 'interrupt' || reason === 'close'

/** Records the state that no event has told yet, lets a cancelled agent write what it has not saved, and records the events of that. */
async function recordLast(
  context: RunContext,
  launched: LaunchedRun,
  steps: AgentSteps | undefined,
  untold: readonly string[],
  record: (event: AgentEvent) => Promise<void> | undefined,
): Promise<void> {
  const { threadId, runId } = launched.run
  try {
    for (const id of untold) for (const event of await eventsOf(context, launched, id)) await record(event)
    for (const event of (await steps?.saveStopped()) ?? []) await record(event)
  } catch (error) {
    if (error instanceof FencedError) throw error
    context.report(error, { threadId, runId })
  }
}

/** The events of a checkpoint of which the agent did not tell, because it was stopped. */
async function eventsOf(
  context: RunContext,
  { run: { threadId, assistantId } }: LaunchedRun,
  checkpointId: string,
): Promise<readonly AgentEvent[]> {
  const agent = agentOf(context, assistantId)
  const at = { threadId, checkpointer: checkpointerOf(context, agent), checkpointId }
  const snapshot = await saverInTime(context, agent.getState(at))
  return snapshot ? stateEvents(snapshot) : []
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
  { run, token, thread, newest }: LaunchedRun,
  signal: AbortSignal,
  appender: Appender,
  writes: WriteGate,
  storage: StorageHealth,
): AgentSteps {
  const { threadId, runId, assistantId } = run
  const agent = agentOf(context, assistantId)
  const fenced = fencedCheckpointer(
    ownCheckpointerOf(context, agent),
    context.store,
    threadId,
    token,
    appender.heldAt,
  )
  const renew = (): Promise<void> => renewLease(context.store, threadId, token, context.leaseTtlMs)
  const renewing = renewingCheckpointer(fenced, renew, signal)
  const saver = newest ? startingWith(renewing, newest.tuple) : renewing
  // The names are those of LangGraph's own servers.
  const ids = { thread_id: threadId, run_id: runId, graph_id: assistantId, assistant_id: assistantId }
  const labelled = labelledCheckpointer(saver, ids, run.config.metadata)
  const retrying = retryingCheckpointer(labelled, context.retryForMs)
  const heading = thread.restoredCheckpointId === null ? retrying : asHead(context, threadId, token, retrying)
  const isFromEmpty = run.checkpointId === EMPTY
  const task: AgentTask = {
    threadId,
    runId,
    assistantId,
    start: run.start,
    checkpointId: isFromEmpty ? undefined : (run.checkpointId ?? thread.restoredCheckpointId ?? undefined),
    config: run.config,
    classic: run.classic,
    maxRecursionLimit: context.limits.recursionLimit,
    principal: principalOf(run),
    checkpointer: watchedCheckpointer(writes.guard(isFromEmpty ? asEmpty(heading) : heading), storage),
    graphStore: context.graphStores.of(thread.owner),
    signal,
    onModelCall: (call) => context.observe({ ...aboutRun(thread, run), type: 'run.model_called', call }),
  }
  return interruptible(context, agent, task, writes)
}

/**
 * A view of a run's saver that makes the run's first checkpoint the head of a thread whose head a rollback has restored. The record
 * is changed when the checkpoint is there: where the process is lost between the two, `hasWritten` finds the checkpoint.
 */
function asHead(context: RunContext, threadId: string, token: number, inner: Checkpointer): Checkpointer {
  let isNoted = false
  const note = () =>
    updateThread(context.store, threadId, (now) => ({ ...now, restoredCheckpointId: null }), {
      guards: [{ guard: 'fence', token }],
    })
  return overlay(inner, (saver) => ({
    async put(config, ...rest) {
      const saved = await saver.put(config, ...rest)
      if (isNoted || config.configurable?.checkpoint_ns) return saved
      await retryUnavailable(context.retryForMs, note)
      isNoted = true
      return saved
    },
  }))
}

/**
 * A view of a run's saver that answers the first question for the newest state of the root with what was read for the launch:
 * nobody else has written since, because that would have changed what the launch was guarded by.
 */
function startingWith(inner: Checkpointer, tuple: CheckpointTuple | undefined): Checkpointer {
  let isNewest = true
  return overlay(inner, (saver) => ({
    async getTuple(config) {
      const { checkpoint_ns: namespace, checkpoint_id: id } = config.configurable ?? {}
      if (!isNewest || namespace || id) return saver.getTuple(config)
      // An agent may change what it was given.
      isNewest = false
      return mayHave(config, tuple) ? tuple : saver.getTuple(config)
    },
    put(config, ...rest) {
      isNewest = false
      return saver.put(config, ...rest)
    },
    putWrites(config, ...rest) {
      isNewest = false
      return saver.putWrites(config, ...rest)
    },
  }))
}

/** A view of a run's saver in which the root has no state before the run has written one. */
function asEmpty(inner: Checkpointer): Checkpointer {
  let isEmpty = true
  return overlay(inner, (saver) => ({
    async getTuple(config) {
      const { checkpoint_ns: namespace, checkpoint_id: id } = config.configurable ?? {}
      return isEmpty && !namespace && !id ? undefined : saver.getTuple(config)
    },
    async put(config, ...rest) {
      const saved = await saver.put(config, ...rest)
      if (!config.configurable?.checkpoint_ns) isEmpty = false
      return saved
    },
  }))
}

/** Who has asked for a run. What a graph is told of the user need not have the id. */
function principalOf({ config }: RunRecord): Principal | null {
  const { langgraph_auth_user: user, langgraph_auth_user_id: id } = config.configurable
  return user ? { ...(user as Principal), ...(typeof id === 'string' && { id }) } : null
}

/**
 * The agent's events, without waiting for an agent that ignores its signal: after a stop, `next` gives the agent a grace time
 * to settle, because its last checkpoint may not be written yet, and then ends without it.
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
