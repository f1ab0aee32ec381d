import type { Agent } from '../agents/agent.ts'
import type { GraphStoreLike, GraphStoreOptions } from '../graph-store/index.ts'
import type { OptionTable } from '../options.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import type { Store } from '../storage/store/store.ts'
import type { ErrorReporter } from './context.ts'
import type { ErrorMessage } from './failures.ts'
import { RUN_LIMITS, type RunLimits } from './limits.ts'
import type { Observe } from './observe.ts'

export interface AgentEngineOptions {
  /**
   * The agents, by assistant id. A map may change while the engine runs: runs take what it has when they start, and those under way
   * keep theirs.
   */
  readonly agents: Readonly<Record<string, Agent>> | ReadonlyMap<string, Agent>
  /** Old names of agents, each with the id that it stands for now: threads of the old name go on with that agent. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** The assistant of a thread that names none. Default: the only agent, if there is only one. */
  readonly defaultAgent?: string | undefined
  /** Keeps threads, runs and events. Default: memory. */
  readonly store?: Store | undefined
  /** Keeps the agents' state. Default: memory. Agents that bring their own saver keep it. */
  readonly checkpointer?: Checkpointer | undefined
  /**
   * The long-term memory that graphs get as `store`: how `store` keeps it, such as `{ embed }` for search by similarity, or a
   * LangGraph `BaseStore` of yours, which all owners share. Default: kept in `store`, for each owner apart. See docs/memory.md.
   */
  readonly graphStore?: GraphStoreLike | GraphStoreOptions | undefined
  /**
   * How long an instance that stopped responding keeps its runs, in milliseconds. Other instances of a shared store take them
   * over at most a third of this time later. Default: 15,000. Has no effect on a store of one process.
   */
  readonly leaseTtlMs?: number | undefined
  /** How long the engine waits for a cancelled agent to stop, in milliseconds. Default: 1,000. */
  readonly cancelGraceMs?: number | undefined
  /** How long runs may continue after `close()`, in milliseconds, before they are stopped or handed over. Default: 0. */
  readonly drainMs?: number | undefined
  /** How often expired records are deleted, in milliseconds. Default: 60,000. */
  readonly sweepMs?: number | undefined
  /**
   * Called with every failure of a run, and with failures that no caller would otherwise see. What it throws or rejects with is
   * ignored. Default: `console.error`.
   */
  readonly onError?: ErrorReporter | undefined
  /**
   * What clients are told of an error of an agent. `true`: its text. `false`: a sentence with the error id that `onError` gets, because the
   * message of an error may hold whatever the agent knows, such as a connection string. A function makes the text: it is given what was
   * thrown, or only the text where no more is known. At most 2,000 characters are sent, and errors of the store and the saver are never
   * shown. Default: `true` where `NODE_ENV` is `development`, which is said once at the start, else `false`.
   */
  readonly errorMessage?: ErrorMessage | undefined
  /** Bounds of what runs may use. See docs/limits.md. */
  readonly limits?: RunLimits | undefined
  /** Called with what happens to runs, threads and the store. See docs/operating.md. */
  readonly observe?: Observe | undefined
}

export const ENGINE_OPTIONS: OptionTable<AgentEngineOptions> = {
  agents: 'any',
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
