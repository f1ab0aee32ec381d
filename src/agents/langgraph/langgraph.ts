import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { Agent, ContextRequest } from '../agent.ts'
import { type AgentProfile, profileOf } from '../profile.ts'
import { graphOf, type LangGraphAgent } from './graph.ts'
import { streamGraph } from './run.ts'
import { langchainSerde } from './serde.ts'
import { stateOf } from './state.ts'

export type { CompiledGraphLike, LangGraphAgent } from './graph.ts'

export interface LangGraphOptions extends AgentProfile, Pick<Agent, 'answersWith'> {
  /** Default: the name with which the graph was compiled. */
  readonly name?: string
  /** Default: the description with which the graph was compiled. */
  readonly description?: string
  /**
   * Makes the runtime context of a run (the graph's `contextSchema`) of the request for it: plain JSON, which is kept with the run.
   * Nodes, tools and middleware find it as `runtime.context`. What it throws refuses the run: an `AgentInputError` tells the
   * client why.
   *
   * ```ts
   * langgraph(graph, { context: ({ principal }) => ({ userId: principal?.id }) })
   * ```
   */
  readonly context?: (request: ContextRequest) => unknown
}

/**
 * Makes an agent from a LangGraph graph: a compiled `StateGraph`, or the result of `createAgent` or `createDeepAgent`. It needs
 * `@langchain/langgraph` 1.4 or later.
 *
 * A graph that was compiled with a checkpointer keeps it, one with `checkpointer: false` keeps no state, and any other graph gets
 * the server's. The graph itself never changes.
 *
 * Throws `AgentwireError` (`invalid_agent`) for anything but a compiled graph, and for `skills` or modes that
 * are not valid.
 */
export function langgraph(agent: LangGraphAgent, options: LangGraphOptions = {}): Agent {
  const graph = graphOf(agent)
  const state = stateOf(graph)
  return {
    name: options.name ?? givenName(graph.name),
    description: options.description ?? graph.description,
    resumable: true,
    takesClassic: true,
    takesMessages: graph.channels === undefined || 'messages' in graph.channels,
    ...profileOf(options),
    answersWith: options.answersWith,
    ...(options.context && { context: options.context }),
    get checkpointer() {
      const own = graph.checkpointer
      return typeof own === 'object' && own !== null ? (own as Checkpointer) : undefined
    },
    stream: (task) => streamGraph(graph, withMessages(task)),
    getState: (at, options) => state.getState(withMessages(at), options),
    getHistory: (at, options) => state.getHistory(withMessages(at), options),
    updateState: (at, update) => state.updateState(withMessages(at), update),
    bulkUpdateState: (at, steps) => state.bulkUpdateState(withMessages(at), steps),
    describe: async () => (await import('./describe.ts')).describeGraph(graph),
  }
}

/** The place with a saver that revives messages and other LangChain objects, unless the saver was given a serde. */
function withMessages<T extends { readonly checkpointer: Checkpointer }>(place: T): T {
  return { ...place, checkpointer: place.checkpointer.withSerde?.(langchainSerde) ?? place.checkpointer }
}

/** A graph that was compiled without a name has the name `LangGraph`. */
const givenName = (name: string | undefined) => (name === 'LangGraph' ? undefined : name)
