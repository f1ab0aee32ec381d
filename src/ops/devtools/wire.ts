import type * as present from './present.ts'
import type { readHeld, readQueued, readServer, readStore } from './server.ts'

// The wire format between the page and its server, in snake_case: what the server sends is what it makes.

export type ThreadRow = ReturnType<typeof present.presentThread>
export type ThreadStatus = ThreadRow['status']
export type ThreadDetail = ReturnType<typeof present.presentDetail>
export type RunRow = ReturnType<typeof present.presentRun>
export type InterruptRow = ThreadDetail['open_interrupts'][number]
export type LeaseRow = NonNullable<ReturnType<typeof present.presentLease>>
export type CheckpointRow = ReturnType<typeof present.presentCheckpoint>
export type CheckpointState = ReturnType<typeof present.presentState>
export type Prices = Readonly<ReturnType<typeof present.presentPrices>>
export type PriceRow = Prices[string]
export type ServerInfo = Awaited<ReturnType<typeof readServer>>
export type StoreRow = Awaited<ReturnType<typeof readStore>>
export type HeldRow = Awaited<ReturnType<typeof readHeld>>[number]
export type QueuedRow = Awaited<ReturnType<typeof readQueued>>[number]

/** The caller's active and queued runs. */
export interface Work {
  readonly now: number
  readonly queued: readonly QueuedRow[]
  readonly held: readonly HeldRow[]
}

export interface ThreadsPage {
  readonly threads: readonly ThreadRow[]
  /** The size of the list, or of the search result. */
  readonly total: number
  /** The number of threads that a search has read, if there are more. */
  readonly looked_at?: number
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
