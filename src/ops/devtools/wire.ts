/** The wire format between the page and its server, in snake_case. Times are milliseconds since 1970. */

export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error'

export interface ThreadRow {
  readonly thread_id: string
  readonly title: string | null
  readonly assistant_id: string | null
  readonly status: ThreadStatus
  readonly created_at: number
  readonly updated_at: number
  /** The number of queued runs. */
  readonly queued: number
  /** The number of interrupts that wait for an answer. */
  readonly interrupts: number
}

export interface ThreadsPage {
  readonly threads: readonly ThreadRow[]
  /** The size of the list, or of the search result. */
  readonly total: number
  /** The number of threads that a search has read, if there are more. */
  readonly looked_at?: number
}

export interface RunRow {
  readonly run_id: string
  readonly assistant_id: string
  readonly status: 'pending' | 'running' | 'success' | 'error' | 'interrupted'
  readonly created_at: number
  readonly started_at: number | null
  /** The sequence number of its first event. Null while it is queued. */
  readonly first_seq: number | null
  readonly attempts: number
  readonly multitask_strategy: string
  /** The checkpoint that it was forked from. */
  readonly checkpoint_id: string | null
  readonly error: string | null
}

export interface LeaseRow {
  /** The id of the engine that holds the thread. */
  readonly holder: string
  readonly token: number
  readonly expires_at: number
  /** Whether the engine that answers this request holds it. */
  readonly is_here: boolean
}

export interface InterruptRow {
  readonly interrupt_id: string
  readonly value: unknown
  readonly run_id: string
  readonly namespace: readonly string[]
}

export interface ThreadDetail extends ThreadRow {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly error: string | null
  readonly active_run_id: string | null
  readonly log: { readonly head: number; readonly first_retained: number }
  readonly lease: LeaseRow | null
  /** Newest first. */
  readonly runs: readonly RunRow[]
  readonly open_interrupts: readonly InterruptRow[]
  /** The store's clock. */
  readonly now: number
}

export interface CheckpointRow {
  readonly checkpoint_id: string
  readonly checkpoint_ns: string
  readonly parent_id: string | null
  readonly step: number | null
  readonly source: string | null
  readonly created_at: string | null
  readonly next: readonly string[]
  readonly tasks: readonly TaskRow[]
}

export interface TaskRow {
  readonly task_id: string
  readonly name: string
  readonly error: string | null
  readonly interrupts: number
}

export interface CheckpointState extends CheckpointRow {
  readonly values: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The caller's active and queued runs. */
export interface Work {
  readonly now: number
  readonly queued: readonly QueuedRow[]
  readonly held: readonly HeldRow[]
}

export interface QueuedRow {
  readonly thread_id: string
  readonly title: string | null
  readonly run_id: string
  /** Starting at 1. */
  readonly position: number
  readonly created_at: number | null
}

export interface HeldRow {
  readonly thread_id: string
  readonly title: string | null
  readonly run_id: string | null
  readonly lease: LeaseRow | null
}

export interface ServerInfo {
  /** The server's clock. */
  readonly now: number
  readonly principal: string | null
  readonly agents: readonly string[]
  readonly store: { readonly name: string; readonly shared: boolean; readonly durable: boolean }
  /** The caller's threads. */
  readonly threads: Readonly<Record<ThreadStatus | 'all', number>>
  /** Load of this process, for the runs of all owners. Null if the caller is not an operator. */
  readonly load: {
    readonly running: number
    readonly queued: number
    readonly subscribers: number
    readonly lag: number
  } | null
  readonly prices: Prices
}

/** In US dollars per million tokens, by model name. */
export type Prices = Readonly<Record<string, PriceRow>>

export interface PriceRow {
  readonly input: number
  readonly output: number
  readonly cache_read: number
  readonly cache_write: number
}

/** The script that computes graph layouts, which runs in the page. */
export interface LayoutScript {
  readonly script: string
}

export interface GraphAnswer {
  /** Null for an agent that has no graph, such as a function. */
  readonly graph: AgentGraph | null
}

/** A graph with the nodes of its subgraphs, which are named `<node of the subgraph>:<node>`. */
export interface AgentGraph {
  readonly nodes: readonly {
    /** `__start__` and `__end__` are the graph's own. */
    readonly id: string
    /** The names of the tools that a node calls. */
    readonly tools: readonly string[]
  }[]
  readonly edges: readonly {
    readonly source: string
    readonly target: string
    /** The choice that takes this edge, if it has a name. */
    readonly label: string | null
    readonly conditional: boolean
  }[]
}

export interface InputAnswer {
  /** The JSON Schema of the agent's input. Null if unknown. */
  readonly schema: Readonly<Record<string, unknown>> | null
}

export interface StoreRow {
  readonly name: string
  readonly schema: { readonly version: number; readonly newest: number }
  readonly durable: boolean
  readonly warnings: readonly string[]
  readonly counts: Readonly<Partial<Record<string, number>>>
  readonly bytes: number | null
}

export interface StartedRun {
  readonly run_id: string
}

/** The nodes at which a run of a graph stops. `*` is every node. */
export interface Breakpoints {
  readonly interrupt_before?: '*' | readonly string[]
  readonly interrupt_after?: '*' | readonly string[]
}

export interface Answers extends Breakpoints {
  /** By interrupt id. */
  readonly answers: Readonly<Record<string, unknown>>
}

export interface NewRun extends Breakpoints {
  /** Default: the thread's agent, otherwise the server's. */
  readonly assistant_id?: string
  readonly input: unknown
  /** As in `run.start`: `configurable`, `tags`, `recursion_limit`, `metadata`. */
  readonly config?: Readonly<Record<string, unknown>>
}

export interface Fork extends Breakpoints {
  readonly checkpoint_id: string
  /** Null continues from the current state. */
  readonly input: unknown
}
