import type { Agent, AgentEvent, AgentTask } from '../../agents/agent.ts'
import type { Principal } from '../../principal.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { labelledCheckpointer } from '../../storage/checkpointer/labelled.ts'
import { beforeWrites } from '../../storage/checkpointer/overlay.ts'
import { retryingCheckpointer } from '../../storage/checkpointer/retrying.ts'
import { FencedError } from '../../storage/errors.ts'
import { nextTurn } from '../../time.ts'
import { agentOf, checkpointerOf, type LaunchedRun, type RunContext } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { RunError } from '../errors.ts'
import type { Appender } from '../log/appender.ts'
import type { RunRecord, StopReason } from '../records/records.ts'
import { aboutRun } from '../records/transition.ts'
import type { AgentOutcome } from './outcome.ts'
import { type StorageHealth, watchedCheckpointer } from './watched-saver.ts'

/** Iterates the agent until it ends, throws or is stopped. */
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
  // A process that continues from a checkpoint does not send the events again that led to it, so they are in the log before it is
  // saved. Where the log is lost with the process, no other process continues the run.
  const ordered = context.store.capabilities.shared ? beforeWrites(retrying, logged) : retrying
  const task: AgentTask = {
    threadId,
    runId,
    assistantId,
    start: run.start,
    checkpointId: run.checkpointId ?? thread.restoredCheckpointId ?? undefined,
    config: run.config,
    classic: run.classic,
    maxRecursionLimit: context.limits.recursionLimit,
    principal: principalOf(run),
    checkpointer: watchedCheckpointer(ordered, storage),
    graphStore: context.graphStores.of(thread.owner),
    signal,
    onModelCall: (call) => context.observe({ ...aboutRun(thread, run), type: 'run.model_called', call }),
  }
  return interruptible(context, agent, task)
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
