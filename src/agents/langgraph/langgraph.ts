import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { Agent, ContextRequest } from '../agent.ts'
import { AGENT_PROFILE, type AgentProfile, profileOf } from '../profile.ts'
import { graphOf, type LangGraphAgent } from './graph.ts'
import { streamGraph } from './run.ts'
import { langchainSerde } from './saver-views.ts'
import { stateOf } from './state.ts'
import { requireVersion } from './version.ts'

export type * from '../../storage/graph-store/types.ts'
export type { CompiledGraphLike, LangGraphAgent } from './graph.ts'

/** The options of `langgraph`. */
export interface LangGraphOptions extends AgentProfile, Pick<Agent, 'answersWith'> {
  /** Default: the name of the compiled graph. */
  readonly name?: string
  /** Default: the description of the compiled graph. */
  readonly description?: string
  /**
   * Creates the runtime context of a run (the graph's `contextSchema`) from its request, as plain JSON that
   * is stored with the run. Nodes, tools and middleware read `runtime.context`. An error that it throws
   * rejects the run; an `AgentInputError` tells the client why.
   *
   * ```ts
   * langgraph(graph, { context: ({ principal }) => ({ userId: principal?.id }) })
   * ```
   */
  readonly context?: (request: ContextRequest) => unknown
  /**
   * Whether approvals use both naming styles. Requests of `humanInTheLoopMiddleware` then have
   * `action_requests`, `review_configs`, `action_name` and `allowed_decisions` in addition to
   * `actionRequests` and so on, and an answer may have `edited_action` instead of `editedAction`. Pages
   * written for LangChain's Python, such as agent-chat-ui and the Agent Inbox, only read these names. A
   * request about one call also has the `action_request` and `config` of the first Agent Inbox.
   * Default: false.
   */
  readonly snakeCaseApprovals?: boolean
}

const LANGGRAPH_OPTIONS: OptionTable<Omit<LangGraphOptions, keyof AgentProfile>> = {
  name: 'string',
  description: 'string',
  answersWith: 'any',
  context: 'function',
  snakeCaseApprovals: 'boolean',
}

/**
 * Creates an agent from a LangGraph graph: a compiled `StateGraph`, or the result of `createAgent` or
 * `createDeepAgent`. It needs `@langchain/langgraph` 1.4 or later.
 *
 * A graph that was compiled with a checkpointer uses it, one with `checkpointer: false` stores no state, and
 * any other uses the server's. The graph itself is never changed.
 *
 * Throws `AgentwireError`: `invalid_agent` for anything except a compiled graph, for one of an older LangGraph
 * and for an invalid profile,
 * `invalid_argument` for unknown or invalid options.
 */
export function langgraph(agent: LangGraphAgent, options: LangGraphOptions = {}): Agent {
  const graph = graphOf(agent)
  requireVersion(graph)
  checkOptions('langgraph', options, LANGGRAPH_OPTIONS, AGENT_PROFILE)
  const state = stateOf(graph)
  const made: Agent = {
    name: options.name ?? givenName(graph.name),
    description: options.description ?? graph.description,
    resumable: true,
    serde: langchainSerde,
    supportsStreamModes: true,
    takesMessages: graph.channels === undefined || 'messages' in graph.channels,
    // The keys of the input schema are among these.
    inputKeys: Object.keys(graph.channels ?? {}).filter((key) => !/^__|:/.test(key)),
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
  return options.snakeCaseApprovals ? withApprovals(made) : made
}

/** The agent with approvals in both naming styles. The code is loaded with the first run or state. */
function withApprovals(agent: Agent): Agent {
  let spelled: Promise<Agent> | undefined
  const load = () =>
    (spelled ??= import('./approvals.ts').then(({ withSnakeCaseApprovals }) => withSnakeCaseApprovals(agent)))
  return {
    ...agent,
    async *stream(task) {
      yield* (await load()).stream(task)
    },
    getState: async (at, options) => (await load()).getState(at, options),
    async *getHistory(at, options) {
      yield* (await load()).getHistory(at, options)
    },
  }
}

/** Uses a checkpointer that revives messages and other LangChain objects, unless it was given a serde. */
function withMessages<T extends { readonly checkpointer: Checkpointer }>(place: T): T {
  return { ...place, checkpointer: place.checkpointer.withSerde?.(langchainSerde) ?? place.checkpointer }
}

/** A graph that was compiled without a name is called `LangGraph`. */
const givenName = (name: string | undefined) => (name === 'LangGraph' ? undefined : name)
