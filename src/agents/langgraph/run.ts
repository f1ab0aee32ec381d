import { defined, type Fields, filterFields } from '../../messages/record.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import { hooked } from '../../storage/checkpointer/hooks.ts'
import type { AgentTask, RunInput, StateSnapshot } from '../agent.ts'
import { commandFor } from './command.ts'
import { createTranslator } from './events.ts'
import {
  type EngineEvent,
  type EventStream,
  type Graph,
  outsideAnyRun,
  type Projections,
  type RunOptions,
  withStorage,
} from './graph.ts'
import { answering, continuing, keepPartial, withoutRefusedAnswers } from './partial-state.ts'
import { captureWriteErrors, delayFailure } from './saver-views.ts'
import { stateOf } from './state.ts'

/** LangGraph's own default. */
const DEFAULT_RECURSION_LIMIT = 25

export async function* streamGraph(
  graph: Graph,
  task: AgentTask,
): AsyncGenerator<AgentEvent, void, undefined> {
  const { start, signal } = task
  // Only the `signal` option stops the engine's nodes, and they must also stop when the reader ends early.
  const stop = new AbortController()
  const abort = () => stop.abort(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  let failure: { readonly error: unknown } | undefined
  const { recursionLimit, effectiveLimit } = recursionLimits(graph, task)
  const isNewInput = start.kind === 'input' && (start.value ?? null) !== null
  const saver = hooked(task.checkpointer, [
    captureWriteErrors((error) => {
      failure = { error }
      stop.abort(error)
    }),
    withoutRefusedAnswers,
    delayFailure(effectiveLimit),
    isNewInput ? await answering(graph, task) : await continuing(task),
  ])
  const { graphStore } = task
  const runnable = withStorage(graph, {
    graphStore,
    ...(graph.checkpointer !== false && { checkpointer: saver }),
  })
  let ended = false
  let settled = async (): Promise<unknown> => undefined
  try {
    const input =
      start.kind === 'input'
        ? (start.value ?? null)
        : await commandFor(start, graph, await resumeValue(graph, task, start))
    const options = runOptions(task, recursionLimit, stop.signal)
    const stream = await outsideAnyRun(() => openStream(runnable, input, options, task))
    settled = stream.settled
    const { translate, rest, unsaved, cut } = createTranslator()
    task.onStop?.(async () => [
      ...cut(),
      ...(await keepPartial(task, unsaved(), (at) => stateOf(graph).getState(at))),
    ])
    for await (const some of stream.events)
      for (const event of 'method' in some ? [some] : some)
        for (const translated of translate(event)) yield translated
    yield* rest()
    if (failure) throw failure.error
    ended = true
  } catch (error) {
    // The graph may throw a different error, but it was stopped because its state could not be saved.
    throw failure ? failure.error : error
  } finally {
    signal.removeEventListener('abort', abort)
    if (!ended) {
      stop.abort()
      // It may still be writing.
      await settled()
    }
  }
}

/** The limit of a run that differs from the graph's, and the one that applies. */
function recursionLimits(
  { config }: Graph,
  { config: { recursionLimit: asked }, maxRecursionLimit }: AgentTask,
) {
  const own = config?.recursionLimit
  const recursionLimit = asked && Math.min(asked, own ?? maxRecursionLimit ?? Number.POSITIVE_INFINITY)
  return { recursionLimit, effectiveLimit: recursionLimit ?? own ?? DEFAULT_RECURSION_LIMIT }
}

async function openStream(graph: Graph, input: unknown, options: RunOptions, { classic }: AgentTask) {
  if (!classic) return streamEventsV3(graph, input, options)
  // Loaded on demand for REST clients, because it reads the messages of every provider.
  const { streamClassic } = await import('./classic/run-classic.ts')
  return streamClassic(graph, input, options, classic)
}

type Resume = Extract<RunInput, { kind: 'resume' }>

/**
 * What a run resumes with: the answers by id, or the only answer alone if the only open question will get
 * another id. LangGraph makes the id from that of the task, which is another one after an update of the
 * subgraph that asked. The enclosing graph still lists the question under its earlier id.
 */
async function resumeValue(graph: Graph, task: AgentTask, { answers }: Resume): Promise<unknown> {
  const [[id, answer] = [], ...others] = Object.entries(answers)
  if (id === undefined) return undefined
  // LangGraph takes an answer without an id for none, if it is null.
  if (others.length > 0 || (answer ?? null) === null || graph.checkpointer === false) return answers
  if (!(await hasSubgraphs(graph))) return answers
  const state = await stateOf(graph).getState({ ...task, config: undefined }, { subgraphs: true })
  const open = (state?.tasks ?? []).flatMap(({ interrupts }) => interrupts)
  return open.length === 1 && open[0]!.id === id && isEdited(state!, id) ? answer : answers
}

async function hasSubgraphs(graph: Graph): Promise<boolean> {
  for await (const _ of graph.getSubgraphsAsync(undefined, false)) return true
  return false
}

/** Whether the subgraph that asked was updated since, so that its own state does not list the question. */
function isEdited({ tasks, metadata, next }: StateSnapshot, id: string): boolean {
  const asking = tasks.find(({ interrupts }) => interrupts.some((one) => one.id === id))
  if (!asking) return metadata.source === 'update' && next.length > 0
  return asking.state !== null && isEdited(asking.state, id)
}

function runOptions(task: AgentTask, recursionLimit: number | undefined, signal: AbortSignal): RunOptions {
  const { tags, metadata, configurable, context, ...config } = task.config
  const { threadId, runId, assistantId } = task
  // Tracers read these from the metadata, where clients may have set others. A face may group runs by another
  // thread.
  const ids = { run_id: runId, graph_id: assistantId, assistant_id: assistantId }
  return {
    signal,
    runId,
    configurable: {
      ...withoutReserved(configurable),
      run_id: runId,
      thread_id: threadId,
      ...defined({
        checkpoint_id: task.checkpointId,
        checkpoint_ns: config.checkpointNs,
        checkpoint_map: config.checkpointMap,
      }),
    },
    metadata: { thread_id: threadId, ...metadata, ...ids },
    ...defined({
      recursionLimit,
      tags: tags && [...tags],
      context,
      interruptBefore: nodesOf(config.interruptBefore),
      interruptAfter: nodesOf(config.interruptAfter),
      durability: config.durability,
    }),
  }
}

const nodesOf = (nodes: '*' | readonly string[] | undefined): '*' | string[] | undefined =>
  typeof nodes === 'object' ? [...nodes] : nodes

const POSITION_KEYS = new Set(['checkpoint_id', 'checkpoint_ns', 'checkpoint_map'])

/** Removes the keys of the starting checkpoint and those of the engine, which begin with `__`. */
const withoutReserved = (configurable: Fields): Record<string, unknown> =>
  filterFields(configurable, (key) => !key.startsWith('__') && !POSITION_KEYS.has(key))

/** Runs the graph with `streamEvents` version 3, whose events have the protocol's format. */
async function streamEventsV3(
  graph: Graph,
  input: unknown,
  options: RunOptions,
): Promise<{ readonly events: AsyncIterable<EngineEvent>; settled(): Promise<unknown> }> {
  const run = await graph.streamEvents(input, { ...options, version: 'v3' })
  consume(run)
  return { events: run, settled: () => Promise.resolve(run.output).catch(() => {}) }
}

/**
 * Handles every promise of the run, so that no rejection ends the process. The failure arrives as an event.
 */
function consume({ output, toolCalls, subagents }: Projections & Pick<EventStream, 'output'>): void {
  output?.then(undefined, () => {})
  drain(toolCalls, (call) => call.output?.then(undefined, () => {}))
  drain(subagents, consume)
}

function drain<T>(items: AsyncIterable<T> | undefined, take: (item: T) => void): void {
  if (items === undefined) return
  const takeAll = async () => {
    for await (const item of items) take(item)
  }
  // These lists fail together with the run, which reports the failure itself.
  takeAll().catch(() => {})
}
