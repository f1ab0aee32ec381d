import type { AgentEvent, AgentTask } from '../agent.ts'
import { toJson } from '../to-json.ts'
import { createCheckpointChain, load, type Place } from './checkpoints.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { isSuspended } from './interrupts.ts'
import { ERROR, INPUT, journalOf } from './journal.ts'
import { NODE } from './namespace-state.ts'
import { plan } from './plan.ts'
import { createRun, keepOpen, type Run } from './run.ts'
import { idsAt, type Scope } from './scope.ts'
import type { AgentContext, AgentDefinition } from './types.ts'
import { createWriter } from './writer.ts'

/** One attempt of one run. Nothing happens before the first `next`. */
export function attempt<Input>(
  definition: AgentDefinition<Input>,
  task: AgentTask,
): AsyncIterable<AgentEvent> {
  const { signal } = task
  const stop = new AbortController()
  const cancel = () => outbox.close({ error: signal.reason })
  const outbox = createEventQueue((early) => {
    signal.removeEventListener('abort', cancel)
    // After a good end the function may still be at work behind the scenes: that is its own affair.
    if (early) stop.abort(signal.aborted ? signal.reason : undefined)
  })
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel)
  void outbox.step(() => open(definition, task, outbox, stop.signal))
  return outbox.iterator
}

/** Reads where the thread is, settles what this attempt begins with, and sets the function going. */
async function open<Input>(
  definition: AgentDefinition<Input>,
  task: AgentTask,
  outbox: EventQueue,
  signal: AbortSignal,
): Promise<readonly AgentEvent[]> {
  const { threadId, runId, checkpointer } = task
  const place: Place = { threadId, checkpointer, namespace: '' }
  const base = await load(place, task.checkpointId)
  const planned = await plan(definition.input, task, base)
  const timeline = createCheckpointChain(place, base)
  const { state, source, channels } = planned
  const checkpoint = source
    ? await timeline.put({ ...state, ...channels }, { source, runId })
    : timeline.head()!
  if (source) await keepOpen(timeline, planned.open)
  const shown: readonly AgentEvent[] = [
    { method: 'checkpoints', namespace: [], data: checkpoint },
    { method: 'values', namespace: [], data: state },
  ]
  if (!planned.input) {
    outbox.end()
    return shown
  }
  const record = planned.record ?? journalOf({}, checkpoint.id)
  const run = createRun(task, outbox, signal, place, timeline, planned, record)
  const started = taskEvent(run.id, { input: channels[INPUT], triggers: ['__start__'] })
  const { value: input } = planned.input
  queueMicrotask(() => void perform(definition, task, run, input as Input))
  return [...shown, started]
}

/** Runs the function and ends the attempt as it ended. Never rejects. */
async function perform<Input>(
  definition: AgentDefinition<Input>,
  task: AgentTask,
  run: Run,
  input: Input,
): Promise<void> {
  const { attempt, scope } = run
  if (attempt.outbox.closed) return
  try {
    const change = await definition.run(contextOf(task, scope, input))
    await settled(attempt.running)
    if (run.interrupts.pending().length > 0) return suspend(run)
    finish(run, change)
  } catch (error) {
    if (!isSuspended(error)) return fail(run, error)
    await settled(attempt.running)
    suspend(run)
  }
}

/** The writer with what belongs to the run. Its getters stay getters. */
function contextOf<Input>(task: AgentTask, scope: Scope, input: Input): AgentContext<Input> {
  const { threadId, runId, assistantId, config } = task
  const [thread, run, assistant] = [threadId, runId, assistantId].map((id) => ({ id }))
  return Object.assign(createWriter(scope), {
    input,
    thread: thread!,
    run: run!,
    assistant: assistant!,
    config,
  })
}

function finish({ id, attempt, scope, root }: Run, change: unknown): void {
  for (const open of scope.openMessages) open.end()
  root.update(change, idsAt(scope, 'end'))
  void root.commit({ final: true, between: [taskEvent(id, { result: toJson(change ?? {}) })] })
  attempt.outbox.end()
}

/** The attempt ends at interrupts: what is known so far is kept, and the questions with it. */
function suspend(run: Run): void {
  const { id, attempt, scope, root, interrupts } = run
  for (const open of scope.openMessages) open.fail('The agent waits for an answer.')
  const questions = interrupts.pending()
  const withdrawn = run.open.some((before) => !questions.some((question) => question.id === before.id))
  keep(run, { bare: true, force: withdrawn })
  void attempt.outbox.step(async () => {
    await keepOpen(root.timeline, questions)
    const asked = questions.map(({ id: interruptId, value, namespace }): AgentEvent => {
      return {
        method: 'input.requested',
        namespace,
        data: { interrupt_id: interruptId, payload: value, value },
      }
    })
    const waiting = questions.map(({ id: interruptId, value }) => ({ id: interruptId, value }))
    return [...asked, ...childEvents(run, 'interrupted'), taskEvent(id, { result: {}, interrupts: waiting })]
  })
  attempt.outbox.end()
}

/** The attempt failed: what was delivered before stays in the state. */
function fail(run: Run, error: unknown): void {
  const { id, attempt, scope, root } = run
  const message = error instanceof Error ? error.message : String(error)
  for (const open of scope.openMessages) open.fail(message)
  keep(run, {})
  void attempt.outbox.step(async () => {
    await root.timeline.putWrites(id, [[ERROR, message]])
    return [...childEvents(run, 'failed', message), taskEvent(id, { error: message })]
  })
  attempt.outbox.end({ error })
}

/** Publishes what was not published yet, and writes down what a second attempt must know. */
function keep(run: Run, { bare = false, force = false }: { bare?: boolean; force?: boolean }): void {
  for (const ledger of run.ledgers) ledger.flush()
  // Whether the record has changed shows when the checkpoints of the subagents are written.
  run.root.commitIf(() => force || run.unsaved(), { bare })
}

/** Innermost first. */
function childEvents(
  { attempt }: Run,
  event: 'failed' | 'interrupted',
  error?: string,
): readonly AgentEvent[] {
  const data = { event, graph_name: 'tools', ...(error !== undefined && { error }) }
  return [...attempt.started].reverse().map((namespace) => ({ method: 'lifecycle', namespace, data }))
}

function taskEvent(id: string, fields: Readonly<Record<string, unknown>>): AgentEvent {
  return { method: 'tasks', namespace: [], data: { id, name: NODE, interrupts: [], ...fields } }
}

async function settled(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled([...running])
}
