import type { AgentEvent } from '../events/index.ts'
import type { GraphStore } from '../graph-store/index.ts'
import type { Principal } from '../principal.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import type { Serde } from '../storage/checkpointer/serde.ts'
import type { AgentDescription } from './description.ts'
import type { AgentProfile } from './profile.ts'

/**
 * Turns an input into a stream of protocol events. `langgraph(graph)` and `defineAgent({ … })` make agents.
 * Only the run engine calls `stream`.
 */
export interface Agent extends AgentProfile {
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** Lets another process continue a run from its last checkpoint when the process of the run has died. */
  readonly resumable: boolean
  /** The agent's own saver. Without one, the agent gets the server's. */
  readonly checkpointer?: Checkpointer | undefined
  /** How its values are written where a saver serializes them and was given no serde. Default: as JSON. */
  readonly serde?: Serde | undefined
  /** Whether runs read `AgentTask.classic`. Otherwise frames are made of protocol events. Default false. */
  readonly supportsStreamModes?: boolean | undefined
  /** What the assistant of its name is configured with. Default: nothing. */
  readonly defaults?: AgentDefaults | undefined
  /** False where its state has no `messages`, so that nobody can send it text. Default true. */
  readonly takesMessages?: boolean | undefined
  /** Called before a run is accepted. Throws `AgentInputError` for an input that every run would refuse. */
  validateInput?(input: unknown): void | Promise<void>
  /**
   * Reads what the agent needs of a request. Called once, before a run is accepted; what it throws refuses
   * the run. The result is stored with the run as JSON, and every attempt gets it as `config.context`.
   */
  context?(request: ContextRequest): unknown
  /**
   * Whether an A2A client gets a task, which it can follow and continue, or waits for a message. Asked once,
   * before a run is accepted; what it throws refuses the run. Default: `task`.
   */
  answersWith?: ((request: ContextRequest) => AnswerKind | Promise<AnswerKind>) | undefined
  /**
   * One attempt of one run. Ends when the agent is done or waits at an interrupt, and throws when it has
   * failed. The engine makes the `lifecycle` events of the root. An agent yields one only to say
   * `interrupted`: it has stopped at a breakpoint, and continues with a `null` input. Every `data` is plain
   * JSON (see `toJson`).
   */
  stream(task: AgentTask): AsyncIterable<AgentEvent>
  /** The state at a checkpoint, or undefined when there is no checkpoint. */
  getState(at: StateAddress, options?: { readonly subgraphs?: boolean }): Promise<StateSnapshot | undefined>
  /** The snapshots, newest first. */
  getHistory(at: StateAddress, options?: HistoryOptions): AsyncIterable<StateSnapshot>
  /**
   * The graph and the schemas that pages show. `config` is that of an assistant, for agents that are made by
   * it. Default: one step of unknown schemas.
   */
  describe?(config?: Readonly<Record<string, unknown>>): AgentDescription | Promise<AgentDescription>
  /** Writes a checkpoint with the source `update`. Throws `AgentInputError` for values the state refuses. */
  updateState(at: StateAddress, update: StateUpdate): Promise<{ readonly checkpointId: string }>
  /**
   * Writes a checkpoint for each step, as if a run had taken these steps, and gives the id of the last one.
   * Each step has at least one update. Throws `AgentInputError` for what the state refuses. Absent if not
   * supported.
   */
  bulkUpdateState?(
    at: StateAddress,
    steps: readonly (readonly StepUpdate[])[],
  ): Promise<{ readonly checkpointId: string }>
}

/** The defaults of an agent's runs, which their assistant, their thread and their request override. */
export interface AgentDefaults {
  /** A `RunnableConfig` as clients of the REST send it, such as `{ configurable: { model: 'small' } }`. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
  /** The keys of a graph's runtime context. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

export type AnswerKind = 'task' | 'message'

export interface ContextRequest {
  readonly threadId: string
  /** Who asks. Null on a server without authentication. */
  readonly principal: Principal | null
  /** The HTTP request, whose body has been read. Undefined for runs that code on the server starts. */
  readonly request: Request | undefined
  /** The input of the run. Undefined where it answers interrupts. */
  readonly input: unknown
}

export interface AgentTask {
  readonly threadId: string
  readonly runId: string
  readonly assistantId: string
  readonly start: RunInput
  /** The checkpoint to start from instead of the newest: of a fork, or restored by a rollback. It exists. */
  readonly checkpointId?: string | undefined
  readonly config: RunConfig
  /** Runs a graph with LangGraph's stream modes, for a REST client. Other agents may ignore it. */
  readonly classic?: StreamModesRun | undefined
  /** The highest `config.recursionLimit` for an agent that sets no limit of its own. Default: none. */
  readonly maxRecursionLimit?: number | undefined
  /** Who asked for the run. Null on a server without authentication. */
  readonly principal: Principal | null
  readonly checkpointer: Checkpointer
  /** The long-term memory of who owns the thread, over all threads. */
  readonly graphStore: GraphStore
  /**
   * Aborts on cancel. What the agent sends or saves afterwards is dropped, except what belongs to a
   * checkpoint that is being saved.
   */
  readonly signal: AbortSignal
  /**
   * Takes a function that saves what no checkpoint has yet, such as the message that was being written, and
   * gives the events of that. It is called at most once, after the stream of a cancelled run has ended.
   */
  readonly onStop?: ((save: () => Promise<readonly AgentEvent[]>) => void) | undefined
  /** Called after each call of a model, by agents that can observe them. Never throws. */
  readonly onModelCall?: ((call: ModelCall) => void) | undefined
}

/** A call of a model, for those who operate the server. */
export interface ModelCall {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** When the first content came; null when none did. */
  readonly firstTokenAt: number | null
  readonly endedAt: number
  /** Such as `openai`; undefined where the format does not tell. */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly finishReason: string | undefined
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined
  /** Why it failed. */
  readonly error: string | undefined
}

export type RunInput =
  /** A `null` value continues from the checkpoint. */
  | { readonly kind: 'input'; readonly value: unknown }
  | {
      readonly kind: 'resume'
      /** The answers by interrupt id. An interrupt without an answer stays pending. */
      readonly answers: Readonly<Record<string, unknown>>
      readonly update?: unknown
      /** A node name, `{ node, input }`, or an array of both. */
      readonly goto?: unknown
    }

/**
 * How LangGraph's servers run a graph for REST clients: with `graph.stream`, where the content of a message
 * stays the model's text. Runs of the streaming protocol use `streamEvents` version 3, where it is a list of
 * blocks.
 */
export interface StreamModesRun {
  /** The stream modes that the client asked for, by their names in the REST, such as `messages-tuple`. */
  readonly modes: readonly string[]
  /** Whether it asked for the chunks of subgraphs too. */
  readonly subgraphs: boolean
}

/** Execution options of a run, added to the configuration of its agent. Plain functions ignore them. */
export interface GraphConfig {
  /** The nodes before which the run stops; `*` stands for all of them. */
  readonly interruptBefore?: '*' | readonly string[] | undefined
  readonly interruptAfter?: '*' | readonly string[] | undefined
  /** When checkpoints are saved: before the next step, during it, or at the end. Default: `async`. */
  readonly durability?: 'sync' | 'async' | 'exit' | undefined
  /** The namespace of the checkpoint to start from. Default: the root. */
  readonly checkpointNs?: string | undefined
  /** The checkpoints of the graphs around that one, by their namespaces. */
  readonly checkpointMap?: Readonly<Record<string, string>> | undefined
}

export interface RunConfig extends GraphConfig {
  readonly configurable: Readonly<Record<string, unknown>>
  readonly recursionLimit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What the agent's `context` made of the request, as plain JSON. */
  readonly context?: unknown
}

export interface StateAddress {
  readonly threadId: string
  readonly checkpointer: Checkpointer
  /** The long-term memory of who owns the thread, for agents whose state is written by their own code. */
  readonly graphStore?: GraphStore
  readonly checkpointId?: string | undefined
  /** The segments of the namespace joined by `|`. The root is `''`. */
  readonly checkpointNs?: string | undefined
  /** The config of the last run of the thread by a REST client, for graphs that are made by their config. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

export interface HistoryOptions {
  readonly limit?: number | undefined
  /** A checkpoint id. The history begins with the checkpoints before it. */
  readonly before?: string | undefined
  /** Metadata that the checkpoints must have, compared by equality. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined
}

export interface StateUpdate {
  readonly values: unknown
  readonly asNode?: string | undefined
}

export interface StepUpdate extends StateUpdate {
  /** What a node may return in place of values. */
  readonly command?:
    | { readonly update?: unknown; readonly goto?: unknown; readonly resume?: unknown }
    | undefined
}

export interface CheckpointRef {
  readonly threadId: string
  readonly checkpointId: string
  readonly checkpointNs: string
  readonly checkpointMap: Readonly<Record<string, string>> | null
}

export interface PendingInterrupt {
  readonly id: string
  readonly value: unknown
}

export interface StateSnapshot {
  /** The whole state of the namespace, as plain JSON. */
  readonly values: Readonly<Record<string, unknown>>
  readonly next: readonly string[]
  readonly tasks: readonly SnapshotTask[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** ISO 8601. */
  readonly createdAt: string | null
  readonly checkpoint: CheckpointRef
  readonly parentCheckpoint: CheckpointRef | null
}

export interface SnapshotTask {
  readonly id: string
  readonly name: string
  readonly path: readonly unknown[]
  readonly error: string | null
  readonly interrupts: readonly PendingInterrupt[]
  /** The address at which a subgraph of this task keeps its state. */
  readonly checkpoint: CheckpointRef | null
  /** The state of that subgraph, when it was requested. */
  readonly state: StateSnapshot | null
  readonly result: unknown
}
