import type { Agent, RunConfig } from '../../src/agents/agent.ts'
import {
  type CompiledGraphLike,
  type LangGraphAgent,
  langgraph,
} from '../../src/agents/langgraph/langgraph.ts'
import type { GraphEntry } from './config.ts'
import { ConfigError } from './config-reader.ts'

/** What a function that makes graphs is told of the request beside the config, as LangGraph's own server tells it. */
interface GraphRuntime {
  readonly accessContext: 'threads.create_run' | 'threads.read' | 'threads.update'
  readonly executionRuntime: { readonly context: unknown } | null
}

type GraphFunction = (config: object, runtime: GraphRuntime) => unknown

/**
 * The agent that an export of a graph's file is: a graph, compiled or not; what `createAgent` gives; an agent of `defineAgent`; a
 * promise of one of them; or a function that makes a graph for each run. Throws `ConfigError`.
 */
export async function agentOf(entry: GraphEntry, value: unknown, config: string): Promise<Agent> {
  const found = await value
  if (typeof found === 'function') return agentOfFunction(entry, found as GraphFunction)
  if (isAgent(found)) return described(found, entry)
  const graph = graphOf(found)
  if (graph) return agentOfGraph(entry, graph)
  const what = `${entry.file}:${entry.symbol} is ${found === null ? 'null' : `of type ${typeof found}`}`
  throw new ConfigError(
    `${config}: ${entry.key}: ${what}. It has to be a graph, a function that makes one, or an agent of defineAgent.`,
  )
}

const isAgent = (value: unknown): value is Agent =>
  typeof (value as Agent | null)?.stream === 'function' && typeof (value as Agent).getHistory === 'function'

/** A compiled graph, or undefined for anything that is none and cannot be compiled. */
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

/** The server keeps the state of all graphs, as LangGraph's own does: a saver that a graph was compiled with would forget it. */
function agentOfGraph(entry: GraphEntry, graph: LangGraphAgent): Agent {
  const { description } = entry
  return { ...langgraph(graph, { ...(description && { description }) }), checkpointer: undefined }
}

/** The function is called for every run and every look at a state, because its graph may depend on the config. */
function agentOfFunction(entry: GraphEntry, make: GraphFunction): Agent {
  const open = async (config: object, runtime: GraphRuntime): Promise<Agent> => {
    const made = graphOf(await make(config, runtime))
    if (made) return agentOfGraph(entry, made)
    throw new TypeError(`${entry.file}:${entry.symbol} is a function that gave no graph.`)
  }
  const read = ({ threadId }: { readonly threadId: string }) =>
    open({ configurable: { thread_id: threadId } }, { accessContext: 'threads.read', executionRuntime: null })
  return {
    description: entry.description,
    resumable: true,
    takesClassic: true,
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
    getState: async (at, options) => (await read(at)).getState(at, options),
    async *getHistory(at, options) {
      yield* (await read(at)).getHistory(at, options)
    },
    async updateState(at, update) {
      const config = { configurable: { thread_id: at.threadId } }
      const agent = await open(config, { accessContext: 'threads.update', executionRuntime: null })
      return agent.updateState(at, update)
    },
  }
}

const configOf = (
  { configurable, tags, recursionLimit, metadata }: RunConfig,
  ids: Readonly<Record<string, unknown>>,
): object => ({
  configurable: { ...configurable, ...ids },
  ...(tags && { tags }),
  ...(recursionLimit !== undefined && { recursion_limit: recursionLimit }),
  ...(metadata && { metadata }),
})
