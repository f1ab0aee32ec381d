import type { AgentEvent, AgentTask } from '../agent.ts'
import { toJson } from '../to-json.ts'
import { derivedId } from './ids.ts'
import { createInterrupts, type Interrupts, isSuspended } from './interrupts.ts'
import { createLedger, type Ledger, NODE } from './ledger.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { type Plan, plan } from './plan.ts'
import { ERROR, INPUT, INTERRUPT, type OpenInterrupt, RECORD, type RunRecord } from './record.ts'
import { type Attempt, createScope, idsAt, type Scope } from './scope.ts'
import { publicState, type State } from './state.ts'
import { createTimeline, type Loaded, load, type Place, type Timeline } from './timeline.ts'
import type { AgentDefinition } from './types.ts'
import { createWriter } from './writer.ts'

/** One attempt of one run. Nothing happens before the first `next`. */
export function attempt<Input>(
  definition: AgentDefinition<Input>,
  task: AgentTask,
): AsyncIterable<AgentEvent> {
  const { signal } = task
  const stop = new AbortController()
  const cancel = () => outbox.close({ error: signal.reason })
  const outbox = createOutbox((early) => {
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
  outbox: Outbox,
  signal: AbortSignal,
): Promise<readonly AgentEvent[]> {
  const { threadId, runId, checkpointer } = task
  const place: Place = { threadId, checkpointer, namespace: '' }
  const base = await load(place, task.checkpointId)
  const planned = await plan(definition.input, task, base)
  const timeline = createTimeline(place, base)
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
  const record = planned.record ?? { seed: checkpoint.id, answers: {}, customs: {}, children: {} }
  const run = createRun(task, outbox, signal, place, timeline, planned, record)
  const started = taskEvent(run.id, { input: channels[INPUT], triggers: ['__start__'] })
  const { value: input } = planned.input
  queueMicrotask(() => void perform(definition, task, run, input as Input))
  return [...shown, started]
}

interface Run {
  /** Of the one task that the function is, seen as a graph. */
  readonly id: string
  readonly attempt: Attempt
  readonly scope: Scope
  readonly root: Ledger
  readonly ledgers: readonly Ledger[]
  readonly interrupts: Interrupts
  /** See `Plan`. */
  readonly open: readonly OpenInterrupt[]
  /** Whether the record has changed since it was last written. */
  unsaved(): boolean
}

function createRun(
  task: AgentTask,
  outbox: Outbox,
  signal: AbortSignal,
  place: Place,
  timeline: Timeline,
  { state, channels, record: resumed, open }: Plan,
  first: RunRecord,
): Run {
  const { seed, answers } = first
  const interrupts = createInterrupts(seed, answers)
  const ledgers: Ledger[] = []
  const counts = new Map<string, number>()
  let record = first
  let saved = first

  const root = createLedger({
    namespace: [],
    state,
    timeline,
    outbox,
    delivered: resumed && state,
    details: () => ({ runId: task.runId }),
    channels: () => {
      const { customs } = record
      return () => {
        saved = { ...record, customs }
        return { [INPUT]: channels[INPUT], [RECORD]: saved }
      }
    },
    afterCommit: () => keepOpen(timeline, open),
  })

  async function openLedger(namespace: readonly string[]): Promise<Ledger> {
    const key = namespace.join('|')
    const known = record.children[key]
    const inner: Place = { ...place, namespace: key }
    const base: Loaded | undefined = known === undefined ? undefined : await load(inner, known)
    const before = base && publicState(base.channels)
    const ledger = createLedger({
      namespace,
      state: before ?? ({} as State),
      timeline: createTimeline(inner, base),
      outbox,
      delivered: before,
      details: () => ({ runId: task.runId, parents: { '': timeline.head()!.id } }),
      channels: () => () => ({}),
      afterCommit: async ({ id }) => {
        record = { ...record, children: { ...record.children, [key]: id } }
      },
    })
    ledgers.push(ledger)
    return ledger
  }

  function isNewCustom(scope: string): boolean {
    const count = (counts.get(scope) ?? 0) + 1
    counts.set(scope, count)
    if (count <= (record.customs[scope] ?? 0)) return false
    record = { ...record, customs: { ...record.customs, [scope]: count } }
    return true
  }

  const attempt: Attempt = {
    outbox,
    interrupts,
    seed,
    signal,
    running: new Set(),
    started: new Set(),
    openLedger,
    isNewCustom,
  }
  return {
    id: derivedId(seed, NODE),
    attempt,
    scope: createScope(attempt, root, { path: '' }),
    root,
    ledgers,
    interrupts,
    open,
    unsaved: () => record.customs !== saved.customs || record.children !== saved.children,
  }
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

function contextOf<Input>({ threadId, runId, assistantId, config }: AgentTask, scope: Scope, input: Input) {
  const context = {
    input,
    thread: { id: threadId },
    run: { id: runId },
    assistant: { id: assistantId },
    config,
  }
  return Object.defineProperties(
    context,
    Object.getOwnPropertyDescriptors(createWriter(scope)),
  ) as typeof context & ReturnType<typeof createWriter>
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

async function keepOpen(timeline: Timeline, questions: readonly OpenInterrupt[]): Promise<void> {
  for (const question of questions) await timeline.putWrites(question.id, [[INTERRUPT, question]])
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
