import type { Agent } from '../agents/agent.ts'
import type { OptionTable } from '../core/options.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import type { GraphStoreLike, GraphStoreOptions } from '../storage/graph-store/index.ts'
import type { Store } from '../storage/store/store.ts'
import type { ErrorReporter } from './context.ts'
import type { ErrorMessage } from './failures.ts'
import { RUN_LIMITS, type RunLimits } from './limits.ts'
import type { Observe } from './observe.ts'

/** The options of an engine. */
export interface AgentEngineOptions {
  /**
   * The agents, by assistant id. A map may change while the engine runs: new runs use its current agents,
   * active runs keep theirs.
   */
  readonly agents: Readonly<Record<string, Agent>> | ReadonlyMap<string, Agent>
  /** Old names of agents, mapped to their current ids: threads with an old name continue with that agent. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /**
   * The assistant of a thread that names none. Default: the only agent if there is one agent, otherwise none.
   */
  readonly defaultAgent?: string | undefined
  /** Stores threads, runs and events. Default: in memory. */
  readonly store?: Store | undefined
  /** Stores the agents' state. Default: in memory. Agents with their own checkpointer use it. */
  readonly checkpointer?: Checkpointer | undefined
  /**
   * The long-term memory that graphs get as `store`: options for storing it in `store`, such as `{ embed }`
   * for similarity search, or your LangGraph `BaseStore`, which all owners share. Default: stored in `store`,
   * separately for each owner. See docs/memory.md.
   */
  readonly graphStore?: GraphStoreLike | GraphStoreOptions | undefined
  /**
   * How long an unresponsive instance keeps its runs, in milliseconds. Other instances of a shared store take
   * them over within another third of this time. Default: 15,000. Has no effect on a store of a single
   * process.
   */
  readonly leaseTtlMs?: number | undefined
  /** How long the engine waits for a cancelled agent to stop, in milliseconds. Default: 1,000. */
  readonly cancelGraceMs?: number | undefined
  /**
   * How long runs may continue after `close()`, in milliseconds, before they are stopped or handed over.
   * Default: 0.
   */
  readonly drainMs?: number | undefined
  /** How often expired records are deleted, in milliseconds. Default: 60,000. */
  readonly sweepMs?: number | undefined
  /**
   * Called with every failure of a run, and with failures that no caller would otherwise see. Errors that it
   * throws or rejects with are ignored. Default: `console.error`.
   */
  readonly onError?: ErrorReporter | undefined
  /**
   * What clients see of an agent's error. `true`: its text. `false`: a sentence with the error id that
   * `onError` gets, because an error message may contain anything that the agent knows, such as a connection
   * string. A function returns the text: it gets the thrown value, or only its text if the value is not
   * known. At most 2,000 characters are sent, and errors of the store and checkpointer are never shown.
   * Default: `true` if `NODE_ENV` is `development` (reported once at the start), otherwise `false`.
   */
  readonly errorMessage?: ErrorMessage | undefined
  /** Limits of the resources that runs may use. See docs/limits.md. */
  readonly limits?: RunLimits | undefined
  /** Called with the events of runs, threads and the store. See docs/operating.md. */
  readonly observe?: Observe | undefined
}

export const ENGINE_OPTIONS: OptionTable<AgentEngineOptions> = {
  agents: 'object',
  aliases: { '*': 'string' },
  defaultAgent: 'string',
  store: 'store',
  checkpointer: 'saver',
  graphStore: 'object',
  leaseTtlMs: 'number',
  cancelGraceMs: 'number',
  drainMs: 'number',
  sweepMs: 'number',
  onError: 'function',
  errorMessage: ['boolean', 'function'],
  limits: RUN_LIMITS,
  observe: 'function',
}
