import { AgentwireError } from '../../core/errors.ts'
import type { Fields } from '../../messages/record.ts'
import type {
  CheckpointConfig,
  Checkpointer,
  CheckpointMetadata,
} from '../../storage/checkpointer/checkpointer.ts'
import type { GraphStore } from '../../storage/graph-store/index.ts'
import { withVersions } from './saver-views.ts'

/** The part of a compiled graph (`Pregel`, `@langchain/langgraph` 1.4 and later) that this folder uses. */
export interface Graph {
  readonly nodes: Fields
  readonly channels?: Fields | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** If `false`, the graph never writes a checkpoint. */
  readonly checkpointer?: unknown
  readonly store?: unknown
  readonly config?: { readonly recursionLimit?: number } | undefined
  streamEvents(
    input: unknown,
    options: RunOptions & { readonly version: 'v3' },
  ): EventStream | Promise<EventStream>
  streamEvents(input: unknown, options: ClassicOptions): AsyncIterable<unknown>
  /** The source of `stream`. Subclasses of LangChain's runnables override it. */
  _streamIterator(input: unknown, options: ClassicOptions): AsyncGenerator<unknown, void, undefined>
  getState(config: CheckpointConfig, options?: { readonly subgraphs?: boolean }): Promise<GraphState>
  getStateHistory(
    config: CheckpointConfig,
    options?: { limit?: number; before?: CheckpointConfig; filter?: Record<string, unknown> },
  ): AsyncIterable<GraphState>
  updateState(config: CheckpointConfig, values: unknown, asNode?: string): Promise<CheckpointConfig>
  bulkUpdateState(
    config: CheckpointConfig,
    steps: { updates: { values: unknown; asNode?: string }[] }[],
  ): Promise<CheckpointConfig>
  getSubgraphsAsync(
    namespace: string | undefined,
    recurse: boolean,
  ): AsyncIterable<readonly [name: string, graph: Graph]>
  getGraphAsync(config: { readonly xray: boolean | number }): Promise<{ toJSON(): unknown }>
  /** The builder of the compiled graph. A `StateSchema` produces its own JSON Schema. */
  readonly builder?: {
    readonly _schemaRuntimeDefinition?: { readonly getJsonSchema?: () => unknown } | undefined
  }
}

export interface RunOptions extends CheckpointConfig {
  readonly signal: AbortSignal
  /** The id of the root run, also in traces. */
  readonly runId: string
  readonly recursionLimit?: number
  readonly tags?: string[]
  readonly metadata: Record<string, unknown>
  readonly context?: unknown
  readonly interruptBefore?: '*' | string[]
  readonly interruptAfter?: '*' | string[]
  readonly durability?: 'sync' | 'async' | 'exit'
}

/** Options that make the graph stream chunks of several modes, including those of subgraphs. */
export interface ClassicOptions extends RunOptions {
  readonly version: 'v2'
  readonly streamMode: string[]
  readonly subgraphs: true
  readonly callbacks: object[]
}

export type GraphChunk = readonly [namespace: readonly string[], mode: string, data: unknown]

/** The result of `streamEvents` version 3: the events, and promises that reject on failure. */
export interface EventStream extends AsyncIterable<EngineEvent>, Projections {
  readonly output?: PromiseLike<unknown>
}

/**
 * The calls of `createAgent` graphs. Their promises must be handled, otherwise a failing tool ends the
 * process.
 */
export interface Projections {
  readonly toolCalls?: AsyncIterable<{ readonly output?: PromiseLike<unknown> }>
  readonly subagents?: AsyncIterable<Projections & { readonly output?: PromiseLike<unknown> }>
}

export interface EngineEvent {
  readonly method: string
  readonly params: {
    readonly namespace: readonly string[]
    readonly node?: string
    readonly data: unknown
  }
}

/** LangGraph's `StateSnapshot`. */
export interface GraphState {
  readonly values: unknown
  readonly next: readonly string[]
  readonly tasks: readonly GraphTask[]
  readonly metadata?: CheckpointMetadata
  readonly config: CheckpointConfig
  readonly createdAt?: string
  readonly parentConfig?: CheckpointConfig
}

export interface GraphTask {
  readonly id: string
  readonly name: string
  readonly path?: readonly unknown[]
  readonly error?: unknown
  readonly interrupts?: readonly GraphInterrupt[]
  readonly state?: CheckpointConfig | GraphState
  readonly result?: unknown
}

export interface GraphInterrupt {
  readonly id?: string
  readonly value?: unknown
}

/**
 * The graphs that `langgraph()` accepts: the result of `StateGraph.compile()`, or an object with such a
 * `graph`, such as an agent from `createAgent` or `createDeepAgent`.
 */
export type LangGraphAgent = CompiledGraphLike | { readonly graph: CompiledGraphLike }

/** The members that identify a compiled graph, so that any copy of LangGraph is accepted. */
export interface CompiledGraphLike {
  readonly lg_is_pregel: boolean
  streamEvents(...input: never[]): unknown
  getState(...config: never[]): unknown
}

/** The graph inside an agent. Throws for anything else, such as a `StateGraph` before `compile()`. */
export function graphOf(agent: LangGraphAgent): Graph {
  const { graph = agent as Partial<CompiledGraphLike> }: { readonly graph?: Partial<CompiledGraphLike> } =
    Object(agent)
  if (graph?.lg_is_pregel !== true || typeof graph.streamEvents !== 'function') {
    throw new AgentwireError(
      'invalid_agent',
      'langgraph() takes a compiled graph or an agent from createAgent or createDeepAgent. Call compile() on a StateGraph first.',
    )
  }
  return graph as unknown as Graph
}

/**
 * A copy of the graph with another checkpointer, if one is given, and with a store, if it has none.
 * LangGraph's `withConfig` copies the fields of a graph in the same way; subgraphs inherit both from the run.
 */
export function withStorage(
  graph: Graph,
  { checkpointer, graphStore }: { readonly checkpointer?: Checkpointer; readonly graphStore?: GraphStore },
): Graph {
  const type = graph.constructor as new (fields: object) => Graph
  return Object.assign(new type({ ...graph, autoValidate: false }), graph, {
    store: graph.store ?? graphStore,
    ...(checkpointer && { checkpointer: withVersions(checkpointer) }),
  })
}

const LANGCHAIN_CONTEXT = Symbol.for('ls:tracing_async_local_storage')

/**
 * LangChain passes the config of a running node to everything that the node calls, even across requests in
 * this process. Without this function, a run that a tool starts on another agent would become part of the
 * first run.
 */
export function outsideAnyRun<T>(work: () => T): T {
  const context = (globalThis as { [LANGCHAIN_CONTEXT]?: { run?(store: undefined, work: () => T): T } })[
    LANGCHAIN_CONTEXT
  ]
  return context?.run ? context.run(undefined, work) : work()
}
