import { type CompiledGraphLike, type LangGraphAgent, langgraph } from '../../agents/langgraph/langgraph.ts'
import type { RunConfig, StateAddress } from '../../faces/kit/index.ts'
import type { Agent } from '../../index.ts'
import type { GraphEntry } from './config.ts'
import { ConfigError } from './config-reader.ts'
import type { DescribeTypes } from './graph-types.ts'

/**
 * What a graph factory receives about the request in addition to the config, as in LangGraph's own server.
 */
interface GraphRuntime {
  readonly accessContext: 'threads.create_run' | 'threads.read' | 'threads.update' | 'assistants.read'
  readonly executionRuntime: { readonly context: unknown } | null
}

/** A graph's agent, with the operations that not all agents have. */
type GraphAgent = Agent & Required<Pick<Agent, 'bulkUpdateState' | 'describe'>>

type GraphFunction = (config: object, runtime: GraphRuntime) => unknown

/**
 * The agent of an export: a graph, compiled or not; the result of `createAgent`; an agent of `defineAgent`; a
 * promise of one of them; or a function that creates a graph for each run. Throws `ConfigError`.
 */
export async function agentOf(
  entry: GraphEntry,
  value: unknown,
  config: string,
  describeTypes: DescribeTypes,
): Promise<Agent> {
  const found = await value
  if (isAgent(found)) return described(found, entry)
  const graph = typeof found === 'function' ? undefined : graphOf(found)
  if (graph || typeof found === 'function') {
    const agent = graph ? agentOfGraph(entry, graph) : agentOfFunction(entry, found as GraphFunction)
    return { ...agent, describe: async (config) => describeTypes(entry, await agent.describe(config)) }
  }
  const what = `${entry.file}:${entry.symbol} is ${found === null ? 'null' : `of type ${typeof found}`}`
  throw new ConfigError(
    `${config}: ${entry.key}: ${what}. It must be a graph, a function that returns one, or an agent from defineAgent.`,
  )
}

const isAgent = (value: unknown): value is Agent =>
  typeof (value as Agent | null)?.stream === 'function' && typeof (value as Agent).getHistory === 'function'

/** A compiled graph, or undefined for anything that is not a graph and cannot be compiled. */
function graphOf(value: unknown): LangGraphAgent | undefined {
  const given = Object(value) as Partial<CompiledGraphLike> & {
    readonly compile?: () => LangGraphAgent
    readonly graph?: Partial<CompiledGraphLike>
  }
  if (given.lg_is_pregel || given.graph?.lg_is_pregel) return given as LangGraphAgent
  return typeof given.compile === 'function' ? given.compile() : undefined
}

const described = (agent: Agent, { description }: GraphEntry): Agent =>
  description === undefined ? agent : { ...agent, description }

/**
 * The server stores the state of all graphs, as LangGraph's own server does. A graph's own saver would lose
 * it.
 */
function agentOfGraph(entry: GraphEntry, graph: LangGraphAgent): GraphAgent {
  const { description } = entry
  const agent = langgraph(graph, {
    snakeCaseApprovals: true,
    ...(description && { description }),
  }) as GraphAgent
  return { ...agent, checkpointer: undefined }
}

/**
 * Called for every run and every read of a state or the graph, because the graph may depend on the config.
 */
function agentOfFunction(entry: GraphEntry, make: GraphFunction): GraphAgent {
  const open = async (config: object, runtime: GraphRuntime): Promise<GraphAgent> => {
    const made = graphOf(await make(config, runtime))
    if (made) return agentOfGraph(entry, made)
    throw new TypeError(`${entry.file}:${entry.symbol} is a function that did not return a graph.`)
  }
  const lookAt = (at: StateAddress, accessContext: 'threads.read' | 'threads.update') =>
    open(configOfThread(at), { accessContext, executionRuntime: null })
  return {
    description: entry.description,
    resumable: true,
    supportsStreamModes: true,
    async *stream(task) {
      const { threadId, runId, assistantId, config } = task
      const ids = { thread_id: threadId, run_id: runId, graph_id: entry.name, assistant_id: assistantId }
      const executionRuntime = { context: config.context }
      const agent = await open(configOf(config, ids), {
        accessContext: 'threads.create_run',
        executionRuntime,
      })
      yield* agent.stream(task)
    },
    getState: async (at, options) => (await lookAt(at, 'threads.read')).getState(at, options),
    async *getHistory(at, options) {
      yield* (await lookAt(at, 'threads.read')).getHistory(at, options)
    },
    updateState: async (at, update) => (await lookAt(at, 'threads.update')).updateState(at, update),
    async bulkUpdateState(at, steps) {
      const agent = await lookAt(at, 'threads.update')
      return agent.bulkUpdateState(at, steps)
    },
    async describe(config) {
      const runtime = { accessContext: 'assistants.read', executionRuntime: null } as const
      const agent = await open({ configurable: {}, ...config }, runtime)
      return agent.describe()
    },
  }
}

const configOfThread = ({ threadId, config }: StateAddress): object => ({
  ...config,
  configurable: { ...(config?.configurable as object | undefined), thread_id: threadId },
})

const configOf = (
  { configurable, tags, recursionLimit, metadata }: RunConfig,
  ids: Readonly<Record<string, unknown>>,
): object => ({
  configurable: { ...configurable, ...ids },
  ...(tags && { tags }),
  ...(recursionLimit !== undefined && { recursion_limit: recursionLimit }),
  ...(metadata && { metadata }),
})
