import type { Message } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import type { AgentEvent, LifecycleData, TaskData } from '../../messages/thread-events/index.ts'
import type { AgentTask, StateAddress } from '../agent.ts'
import { AgentInputError, rejectionOf, textOfThrown } from '../errors.ts'
import { callsOfFunction, cancelledResults } from '../open-calls.ts'
import { inputRequested } from '../root-events.ts'
import { toJson } from '../to-json.ts'
import { openAttempt, planAttempt } from './begin.ts'
import { createCheckpointChain, loadCheckpoint } from './checkpoints.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { described, nondeterministicReplay } from './journal/call-log.ts'
import { ERROR, INPUT, journalOf, RETRIED, saveInterrupts } from './journal/journal.ts'
import { NODE } from './namespace-state.ts'
import { type Attempt, idsAt, isSuspended, type Scope } from './scope.ts'
import { insertAnswer, messagesOf } from './state.ts'
import type {
  AgentContext,
  AgentDefinition,
  AgentReturn,
  AnswerStream,
  MessageWriter,
  StateChange,
  Writer,
} from './types.ts'
import { createWriter } from './writing/writer.ts'

/** The part of a definition that runs. */
export type Runnable<Input> = Pick<AgentDefinition<Input>, 'input' | 'run'>

/** One attempt of a run. It starts with the first `next`. */
export function attempt<Input>(definition: Runnable<Input>, task: AgentTask): AsyncIterable<AgentEvent> {
  const { signal } = task
  const stop = new AbortController()
  const cancel = () => queue.close({ error: signal.reason })
  const queue = createEventQueue((early, error) => {
    signal.removeEventListener('abort', cancel)
    // After a successful end the function may continue its own work, so its signal does not fire.
    if (early) stop.abort(signal.aborted ? signal.reason : error)
  })
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel)
  void queue.step(() => open(definition, task, queue, stop.signal))
  return queue.iterator
}

async function open<Input>(
  definition: Runnable<Input>,
  task: AgentTask,
  queue: EventQueue,
  signal: AbortSignal,
): Promise<readonly AgentEvent[]> {
  const { threadId, runId, checkpointer, checkpointId } = task
  const at: StateAddress = { threadId, checkpointer, checkpointId }
  const base = await loadCheckpoint(at)
  const plan = await planAttempt(definition.input, task, base)
  const chain = createCheckpointChain(at, base)
  const { state, source, channels, pending } = plan
  const checkpoint = source ? await chain.put({ ...state, ...channels }, { source, runId }) : chain.head()!
  if (source) await saveInterrupts(chain, pending)
  const first: readonly AgentEvent[] = [
    { method: 'checkpoints', namespace: [], data: checkpoint },
    { method: 'values', namespace: [], data: state },
  ]
  if (!plan.input) {
    queue.end()
    return first
  }
  const journal = plan.journal ?? journalOf({}, checkpoint.id)
  const scope = openAttempt({ task, at, queue, signal, chain, plan, journal })
  const started = taskEvent(scope.attempt.taskId, { input: channels[INPUT], triggers: ['__start__'] })
  let save: () => Promise<readonly AgentEvent[]> = async () => []
  // The function's listeners run after this one, and may end or fail its messages.
  signal.addEventListener('abort', () => (save = cutOff(scope)))
  task.onStop?.(() => save())
  // The getters of the writer must stay getters.
  const context = Object.assign(createWriter(scope), { input: plan.input.value as Input })
  queueMicrotask(() => void perform(definition, context, scope))
  return [...first, started]
}

/** Runs the function, then finishes, suspends or fails the attempt. Never rejects. */
async function perform<Input>(
  definition: Runnable<Input>,
  context: AgentContext<Input>,
  scope: Scope,
): Promise<void> {
  const { attempt } = scope
  if (attempt.queue.closed) return
  try {
    const change = await writeAnswer(scope, context, await definition.run(context))
    await allSettled(attempt.running)
    if (attempt.divergence) return fail(scope, attempt.divergence.error)
    if (attempt.interrupts.raised().length > 0) return suspend(scope)
    const missed = attempt.root.log.missed()
    if (missed)
      return fail(
        scope,
        nondeterministicReplay(`It ended before call ${missed.path}, which was ${described(missed)}.`),
      )
    finish(scope, change)
  } catch (error) {
    if (attempt.divergence) return fail(scope, attempt.divergence.error)
    if (!isSuspended(error)) return fail(scope, error)
    await allSettled(attempt.running)
    suspend(scope)
  }
}

function finish(scope: Scope, change: StateChange | undefined): void {
  const { taskId, queue, root } = scope.attempt
  for (const open of scope.openWrites) open.end()
  root.update(change, idsAt(scope, 'end'))
  void root.commit({ final: true, between: [taskEvent(taskId, { result: toJson(change ?? {}) })] })
  queue.end()
}

/**
 * Captures the state and the open messages when the run is cancelled, and ends the tool calls without a
 * result. The returned function saves them and returns their events.
 */
function cutOff({ openWrites, state }: Scope): () => Promise<readonly AgentEvent[]> {
  for (const result of cancelledResults(messagesOf(state.current()), callsOfFunction))
    state.change({ messages: [result] }, insertAnswer(state.current(), result))
  const ends = [...openWrites].flatMap((open) => open.cut())
  const save = state.prepareSave()
  return async () => [...ends, ...(await save())]
}

function suspend({ attempt, openWrites }: Scope): void {
  const { taskId, queue, root } = attempt
  for (const open of openWrites) open.fail('The agent is waiting for an answer.')
  const raised = attempt.interrupts.raised()
  const withdrawn = attempt.pending.some((before) => !raised.some((interrupt) => interrupt.id === before.id))
  commitRest(attempt, { bare: true, force: withdrawn })
  void queue.step(async () => {
    await saveInterrupts(root.chain, raised)
    const requested = raised.map((interrupt) => inputRequested(interrupt.namespace, interrupt))
    const waiting = raised.map(({ id, value }) => ({ id, value }))
    return [
      ...requested,
      ...childEvents(attempt, 'interrupted'),
      taskEvent(taskId, { result: {}, interrupts: waiting }),
    ]
  })
  queue.end()
}

function fail({ attempt, openWrites }: Scope, error: unknown): void {
  const { taskId, queue, root } = attempt
  const message = textOfThrown(error)
  for (const open of openWrites) open.fail(message)
  commitRest(attempt, {})
  void queue.step(async () => {
    const retried = [root, ...attempt.subagents].flatMap(({ log }) => log.failuresBehind(error))
    await root.chain.putWrites(taskId, [
      [ERROR, message],
      [RETRIED, retried],
    ])
    const rejection = rejectionOf(error)
    // With this name, clients can see the message.
    const shown = rejection ? { name: rejection.name, message: rejection.message } : message
    return [...childEvents(attempt, 'failed', shown), taskEvent(taskId, { error: shown })]
  })
  queue.end({ error })
}

/** Commits uncommitted changes, and the journal for a second attempt. */
function commitRest(
  { root, subagents, journal }: Attempt,
  { bare = false, force = false }: { bare?: boolean; force?: boolean },
): void {
  for (const subagent of subagents) subagent.flush()
  // The checkpoints of the subagents may change the journal, so it is compared when the commit runs.
  root.commitIf(() => force || journal.hasChanged(), { bare })
}

/** The events that end open namespaces, innermost first. */
function childEvents(
  { started }: Attempt,
  event: 'failed' | 'interrupted',
  error?: LifecycleData['error'],
): readonly AgentEvent[] {
  const data = { event, graph_name: 'tools', ...(error !== undefined && { error }) }
  return [...started].reverse().map((namespace) => ({ method: 'lifecycle', namespace, data }))
}

function taskEvent(id: string, fields: Partial<TaskData>): AgentEvent {
  return { method: 'tasks', namespace: [], data: { id, name: NODE, interrupts: [], ...fields } }
}

async function allSettled(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled([...running])
}

/**
 * Writes what a function returned: a text, a message, or a generator of both. Returns what else it returned, which
 * is a change of the state.
 */
async function writeAnswer(
  scope: Scope,
  context: Writer,
  returned: AgentReturn | AnswerStream,
): Promise<StateChange | undefined> {
  const answer = isStream(returned) ? await writeAll(scope, context, returned) : returned
  if (typeof answer === 'string') await context.message(answer)
  else if (isMessage(answer)) await writeMessage(context, answer)
  else if (isRecord(answer) || Array.isArray(answer)) return answer as StateChange
  else if (answer != null) throw new AgentInputError(`run returned a ${typeof answer}. ${ANSWERS}`)
  return undefined
}

const ANSWERS = 'Answer with a text, a message, or a change of the state.'

const isStream = (value: unknown): value is AnswerStream =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || isGenerator(value))

const isGenerator = (value: object): boolean => Object.prototype.toString.call(value) === '[object Generator]'

/** A message of the assistant. An object with a role but no content may be a state. */
const isMessage = (value: unknown): value is Message =>
  isRecord(value) && value.role === 'assistant' && Array.isArray(value.content)

/** Writes what a generator yields, and gives what it returns. */
async function writeAll(scope: Scope, context: Writer, stream: AnswerStream): Promise<AgentReturn> {
  const pieces = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream
  let text: MessageWriter | undefined
  const endText = () => {
    scope.endText = undefined
    const ended = text?.end()
    text = undefined
    return ended
  }
  try {
    for (;;) {
      const { done, value } = await pieces.next()
      if (done || typeof value !== 'string') await endText()
      if (done) return value as AgentReturn
      if (typeof value === 'string') {
        text ??= context.message()
        scope.endText = endText
        await text.text(value)
      } else if (isMessage(value)) await writeMessage(context, value)
      else throw new AgentInputError(`run yielded a ${typeof value}. Yield pieces of a text, or messages.`)
    }
  } catch (error) {
    void Promise.resolve(pieces.return?.(undefined)).catch(() => {}) // The first error is the one to tell.
    throw error
  }
}

/** Adds a message, unless it is there already, as the result of `message` or `model` is. */
async function writeMessage(context: Writer, { id, name, content }: Message): Promise<void> {
  if (id !== undefined && context.messages.some((message) => message.id === id)) return
  const message = context.message({ ...(id !== undefined && { id }), ...(name !== undefined && { name }) })
  for (const block of content) await message.block(block)
  await message.end()
}
