import type { AgentEvent, AgentTask } from '../agent.ts'
import { captureWriteErrors } from './capture-write-errors.ts'
import { commandFor } from './command.ts'
import { delayFailure } from './delay-failure.ts'
import { createTranslator } from './events.ts'
import { type EventStream, type Graph, type Projections, type RunOptions, withCheckpointer } from './graph.ts'

/** LangGraph's own. */
const DEFAULT_RECURSION_LIMIT = 25

/** One attempt of one run. */
export async function* streamGraph(
  graph: Graph,
  task: AgentTask,
): AsyncGenerator<AgentEvent, void, undefined> {
  const { start, signal } = task
  // The engine stops its nodes for the `signal` option only, and must also stop when nobody reads on.
  const stop = new AbortController()
  const abort = () => stop.abort(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  let failure: { readonly error: unknown } | undefined
  const saver = captureWriteErrors(delayFailureOf(graph, task), (error) => {
    failure = { error }
    stop.abort(error)
  })
  const runnable = graph.checkpointer === false ? graph : withCheckpointer(graph, saver)
  let ended = false
  try {
    const input = start.kind === 'input' ? (start.value ?? null) : await commandFor(start, graph)
    const run = await outsideOfAnyRun(() => runnable.streamEvents(input, runOptions(task, stop.signal)))
    consume(run)
    const { translate, rest } = createTranslator()
    for await (const event of run) for (const translated of translate(event)) yield translated
    yield* rest()
    if (failure) throw failure.error
    ended = true
  } catch (error) {
    // Whatever the graph makes of it, it was stopped because its state could not be kept.
    throw failure ? failure.error : error
  } finally {
    signal.removeEventListener('abort', abort)
    if (!ended) stop.abort()
  }
}

const delayFailureOf = (graph: Graph, { checkpointer, config }: AgentTask) =>
  delayFailure(checkpointer, config.recursionLimit ?? graph.config?.recursionLimit ?? DEFAULT_RECURSION_LIMIT)

function runOptions(task: AgentTask, signal: AbortSignal): RunOptions {
  const { recursionLimit, tags, metadata, configurable } = task.config
  return {
    version: 'v3',
    signal,
    configurable: {
      ...withoutReserved(configurable),
      run_id: task.runId,
      thread_id: task.threadId,
      ...(task.checkpointId !== undefined && { checkpoint_id: task.checkpointId }),
    },
    ...(recursionLimit !== undefined && { recursionLimit }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(metadata !== undefined && { metadata: { ...metadata } }),
  }
}

const PLACE = new Set(['checkpoint_id', 'checkpoint_ns', 'checkpoint_map'])

/** Where a run starts is the task's to say, and keys with two underscores are the engine's own. */
function withoutReserved(configurable: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configurable).filter(([key]) => !key.startsWith('__') && !PLACE.has(key)),
  )
}

const LANGCHAIN_CONTEXT = Symbol.for('ls:tracing_async_local_storage')

/**
 * LangChain hands the config of a running node down to all that the node calls, across requests in this process too: a run
 * that one agent's tool starts on another agent would take itself for a part of the first.
 */
function outsideOfAnyRun<T>(work: () => T): T {
  const context = (globalThis as { [LANGCHAIN_CONTEXT]?: { run?(store: undefined, work: () => T): T } })[
    LANGCHAIN_CONTEXT
  ]
  return context?.run ? context.run(undefined, work) : work()
}

/** Takes every promise of the run, so that none of them ends the process by being rejected. The failure itself is an event. */
function consume({ output, toolCalls, subagents }: Projections & Pick<EventStream, 'output'>): void {
  output?.then(undefined, () => {})
  drain(toolCalls, (call) => call.output?.then(undefined, () => {}))
  drain(subagents, consume)
}

function drain<T>(items: AsyncIterable<T> | undefined, take: (item: T) => void): void {
  if (items === undefined) return
  const taken = async () => {
    for await (const item of items) take(item)
  }
  // These lists fail with the run, which says so itself.
  taken().catch(() => {})
}
