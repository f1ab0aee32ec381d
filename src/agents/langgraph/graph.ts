import { AgentwireError } from '../../errors.ts'
import type {
  CheckpointConfig,
  Checkpointer,
  CheckpointMetadata,
} from '../../storage/checkpointer/checkpointer.ts'

/** The parts of a compiled LangGraph graph (`Pregel`, `@langchain/langgraph` 1.4 and later) that are used here. */
export interface Graph {
  readonly nodes: Readonly<Record<string, unknown>>
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** `false`: never keeps a checkpoint. */
  readonly checkpointer?: unknown
  readonly config?: { readonly recursionLimit?: number } | undefined
  streamEvents(input: unknown, options: RunOptions): EventStream | Promise<EventStream>
  getState(config: CheckpointConfig, options?: { readonly subgraphs?: boolean }): Promise<GraphState>
  getStateHistory(
    config: CheckpointConfig,
    options?: { limit?: number; before?: CheckpointConfig; filter?: Record<string, unknown> },
  ): AsyncIterable<GraphState>
  updateState(config: CheckpointConfig, values: unknown, asNode?: string): Promise<CheckpointConfig>
  getSubgraphsAsync(namespace: string, recurse: true): AsyncIterable<readonly [name: string, graph: Graph]>
}

export interface RunOptions extends CheckpointConfig {
  readonly version: 'v3'
  readonly signal: AbortSignal
  readonly recursionLimit?: number
  readonly tags?: string[]
  readonly metadata?: Record<string, unknown>
}

/** What `streamEvents` of version 3 gives: the events, and promises that reject when something fails. */
export interface EventStream extends AsyncIterable<EngineEvent>, Projections {
  readonly output?: PromiseLike<unknown>
}

/** On graphs of `createAgent`: handles whose promises must be consumed, or a failing tool ends the process. */
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
  /** Absent where there is no checkpoint. */
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
 * What `langgraph()` takes: `StateGraph.compile()`, and what holds such a graph in `graph`, as the agents of `createAgent`
 * and `createDeepAgent` do.
 */
export type LangGraphAgent = CompiledGraphLike | { readonly graph: CompiledGraphLike }

export interface CompiledGraphLike {
  readonly lg_is_pregel: boolean
  streamEvents(...input: never[]): unknown
  getState(...config: never[]): unknown
}

/** The graph inside of an agent. Throws for what is none, such as a `StateGraph` before `compile()`. */
export function graphOf(agent: LangGraphAgent): Graph {
  const graph: Partial<CompiledGraphLike> = 'graph' in agent ? agent.graph : agent
  if (graph.lg_is_pregel !== true || typeof graph.streamEvents !== 'function') {
    throw new AgentwireError(
      'invalid_agent',
      'langgraph() takes a compiled graph or an agent of createAgent or createDeepAgent. Call compile() on a StateGraph first.',
    )
  }
  return graph as unknown as Graph
}

/**
 * The same graph over another checkpointer; the one given is left as it is. LangGraph's `withConfig` makes its copies in the
 * same way, from the fields of the graph; subgraphs take the checkpointer from the run.
 */
export function withCheckpointer(graph: Graph, checkpointer: Checkpointer): Graph {
  const type = graph.constructor as new (fields: object) => Graph
  return Object.assign(new type({ ...graph, autoValidate: false }), graph, {
    checkpointer: versioned(checkpointer),
  })
}

/** LangGraph asks its saver for the next version of a channel, which our contract leaves open. */
function versioned(checkpointer: Checkpointer): Checkpointer {
  if ('getNextVersion' in checkpointer) return checkpointer
  const next = (version: number | undefined): number => (version ?? 0) + 1
  return throughMembers(checkpointer, (key, member) => (key === 'getNextVersion' ? next : member))
}

/**
 * A view of a saver whose members pass through `change`, the methods bound to the saver. The proxy's target is a blank
 * object: a frozen one forbids changes.
 */
export function throughMembers(
  inner: Checkpointer,
  change: (key: PropertyKey, member: unknown) => unknown,
): Checkpointer {
  const seen = new Map<PropertyKey, unknown>()
  return new Proxy(Object.create(Object.getPrototypeOf(inner)) as Checkpointer, {
    get(_, key) {
      if (!seen.has(key)) {
        const member: unknown = Reflect.get(inner, key)
        seen.set(key, change(key, typeof member === 'function' ? member.bind(inner) : member))
      }
      return seen.get(key)
    },
    has: (_, key) => Reflect.has(inner, key),
  })
}
