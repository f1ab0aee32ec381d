import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { Agent, ContextRequest } from '../agent.ts'
import { AGENT_PROFILE, type AgentProfile, profileOf } from '../profile.ts'
import { graphOf, type LangGraphAgent } from './graph.ts'
import { streamGraph } from './run.ts'
import { langchainSerde } from './saver-views.ts'
import { stateOf } from './state.ts'

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

const PACKAGE = '@langchain/langgraph'

/** The versions of LangGraph that are installed. Undefined where none is found. */
interface Installed {
  /** The one that this package uses. */
  readonly ours?: string | undefined
  /** The one of the folder in which the process was started. */
  readonly project?: string | undefined
}

/**
 * Throws `invalid_agent` for a graph of a LangGraph that is older than this package can run. Returns a warning
 * if there are two copies of different versions: their graphs and checkpoints may not fit each other.
 */
export function checkVersion(graph: object, installed: Installed): string | undefined {
  const { ours, project } = installed
  // Copies before 1.3 have no such field, whatever version is found. A remote graph has no nodes.
  const isOld = 'nodes' in graph && !('streamTransformers' in graph)
  if (isOld || isTooOld(ours) || (ours === undefined && isTooOld(project)))
    throw new AgentwireError(
      'invalid_agent',
      `langgraph() needs ${PACKAGE} 1.4 or later, but this graph was made with an older version${found(installed)}. Run “npm install ${PACKAGE}@1 @langchain/core@1”, or the same with your package manager.`,
    )
  if (ours === undefined || project === undefined || ours === project) return undefined
  return `agentwire: there are two versions of ${PACKAGE}${found(installed)}. Install one for both, because graphs of one may not run with the other.`
}

function found({ ours, project }: Installed): string {
  const places = [
    ...(project === undefined ? [] : [`${project} in this folder`]),
    ...(ours === undefined || ours === project ? [] : [`${ours} beside agentwire`]),
  ]
  return places.length === 0 ? '' : `: ${places.join(', ')}`
}

function isTooOld(version: string | undefined): boolean {
  const [major = 1, minor = 4] = version?.split('.').map(Number) ?? []
  return major < 1 || (major === 1 && minor < 4)
}

let known: Installed | undefined

/** Empty on runtimes without Node's modules, and in bundles. */
const installed = (): Installed => (known ??= { ours: versionAt(here()), project: versionAt(cwd()) })

// The CommonJS build has no `import.meta`.
const here = (): string => (typeof __filename === 'string' ? __filename : import.meta.url)

const cwd = (): string | undefined => globalThis.process?.cwd && `${globalThis.process.cwd()}/package.json`

function versionAt(from: string | undefined): string | undefined {
  try {
    const modules = globalThis.process?.getBuiltinModule?.('node:module')
    const found = from && modules?.createRequire(from)(`${PACKAGE}/package.json`)
    return (found as { readonly version: string } | undefined)?.version
  } catch {
    return undefined
  }
}

const told = new Set<string>()

/** Checks a graph against what is installed. A warning is given once. */
function requireVersion(graph: object): void {
  const warning = checkVersion(graph, installed())
  if (warning === undefined || told.has(warning)) return
  told.add(warning)
  console.warn(warning)
}
