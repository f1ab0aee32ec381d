import type { Principal } from '../core/principal.ts'
import type { AgentEvent } from '../messages/thread-events/index.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import type { Serde } from '../storage/checkpointer/serde.ts'
import type { GraphStore } from '../storage/graph-store/index.ts'
import type { AgentDescription } from './description.ts'
import type { AgentProfile } from './profile.ts'

/**
 * Converts an input to a stream of protocol events. `langgraph(graph)` and `defineAgent({ … })` create
 * agents. Only the run engine calls `stream`.
 */
export interface Agent extends AgentProfile {
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** Whether another process may continue a run from its last checkpoint if the run's process dies. */
  readonly resumable: boolean
  /** The agent's own checkpointer. Default: the server's. */
  readonly checkpointer?: Checkpointer | undefined
  /**
   * Serializes the values of its checkpoints, for checkpointers that serialize and have no serde of their
   * own. Default: JSON.
   */
  readonly serde?: Serde | undefined
  /** Whether runs use `AgentTask.classic`. Otherwise frames are made from protocol events. Default: false. */
  readonly supportsStreamModes?: boolean | undefined
  /** The configuration of the assistant with the agent's name. Default: empty. */
  readonly defaults?: AgentDefaults | undefined
  /** Whether the agent accepts text. False if its state has no `messages`. Default: true. */
  readonly takesMessages?: boolean | undefined
  /** Called before a run is accepted. Throws `AgentInputError` for an input that every run would reject. */
  validateInput?(input: unknown): void | Promise<void>
  /**
   * Reads what the agent needs from a request. Called once, before a run is accepted; an error that it throws
   * rejects the run. The result is stored with the run as JSON, and every attempt gets it as
   * `config.context`.
   */
  context?(request: ContextRequest): unknown
  /**
   * Whether an A2A client gets a task, which it can follow and continue, or waits for a message. Called once,
   * before a run is accepted; an error that it throws rejects the run. Default: `task`.
   */
  answersWith?: ((request: ContextRequest) => AnswerKind | Promise<AnswerKind>) | undefined
  /**
   * One attempt of a run. Ends when the agent is done or waits at an interrupt, and throws if it fails. The
   * engine creates the `lifecycle` events of the root. An agent yields one only to report `interrupted`: it
   * stopped at a breakpoint, and continues with a `null` input. Every `data` is plain JSON (see `toJson`).
   */
  stream(task: AgentTask): AsyncIterable<AgentEvent>
  /** The state at a checkpoint. Undefined if there is no checkpoint. */
  getState(at: StateAddress, options?: { readonly subgraphs?: boolean }): Promise<StateSnapshot | undefined>
  /** The snapshots of the thread, newest first. */
  getHistory(at: StateAddress, options?: HistoryOptions): AsyncIterable<StateSnapshot>
  /**
   * The graph and schemas that UIs show. `config` is the config of an assistant, for agents that depend on
   * it. Default: one step with unknown schemas.
   */
  describe?(config?: Readonly<Record<string, unknown>>): AgentDescription | Promise<AgentDescription>
  /**
   * Writes a checkpoint with the source `update`. Throws `AgentInputError` for values that the state rejects.
   */
  updateState(at: StateAddress, update: StateUpdate): Promise<{ readonly checkpointId: string }>
  /**
   * Writes a checkpoint for each step, as if a run had executed these steps, and returns the id of the last
   * one. Each step has at least one update. Throws `AgentInputError` for values that the state rejects.
   * Absent if not supported.
   */
  bulkUpdateState?(
    at: StateAddress,
    steps: readonly (readonly StepUpdate[])[],
  ): Promise<{ readonly checkpointId: string }>
}

/** The defaults of an agent's runs. The assistant, the thread and the request override them. */
export interface AgentDefaults {
  /** A `RunnableConfig` in the form of the REST API, such as `{ configurable: { model: 'small' } }`. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
  /** The keys of a graph's runtime context. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** Whether an A2A client gets a task or a message. */
export type AnswerKind = 'task' | 'message'

/** The request of a run, as an agent's `context` and `answersWith` get it. */
export interface ContextRequest {
  readonly threadId: string
  /** The caller. Null on a server without authentication. */
  readonly principal: Principal | null
  /** The HTTP request, with its body already read. Undefined for runs that server code starts. */
  readonly request: Request | undefined
  /** The input of the run. Undefined if the run answers interrupts. */
  readonly input: unknown
}

/** One attempt of a run, as an agent gets it. */
export interface AgentTask {
  readonly threadId: string
  readonly runId: string
  readonly assistantId: string
  readonly start: RunInput
  /**
   * The checkpoint to start from instead of the newest: that of a fork, or one that a rollback restored. It
   * exists.
   */
  readonly checkpointId?: string | undefined
  readonly config: RunConfig
  /** Runs a graph with LangGraph's stream modes, for a REST client. Other agents may ignore it. */
  readonly classic?: StreamModesRun | undefined
  /** The maximum of `config.recursionLimit` for an agent without its own limit. Default: none. */
  readonly maxRecursionLimit?: number | undefined
  /** The caller that requested the run. Null on a server without authentication. */
  readonly principal: Principal | null
  readonly checkpointer: Checkpointer
  /** The long-term memory of the thread's owner, shared by all of the owner's threads. */
  readonly graphStore: GraphStore
  /**
   * Aborts when the run is cancelled. Later events and writes are dropped, except those of a checkpoint that
   * is being saved.
   */
  readonly signal: AbortSignal
  /**
   * Registers a function that saves what is not in a checkpoint yet, such as an unfinished message, and
   * returns its events. It is called at most once, after the stream of a cancelled run has ended.
   */
  readonly onStop?: ((save: () => Promise<readonly AgentEvent[]>) => void) | undefined
  /** Called after each model call, by agents that can observe them. Never throws. */
  readonly onModelCall?: ((call: ModelCall) => void) | undefined
}

/** A model call, for the operators of the server. */
export interface ModelCall {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** When the first content arrived. Null if there was none. */
  readonly firstTokenAt: number | null
  readonly endedAt: number
  /** Such as `openai`. Undefined if the format does not have it. */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly finishReason: string | undefined
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined
  /** The reason if the call failed. */
  readonly error: string | undefined
}

/** The start of a run: an input, or answers to interrupts. */
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
 * Options for running a graph as LangGraph's servers do for REST clients: with `graph.stream`, where the
 * content of a message is the model's text. Runs of the streaming protocol use `streamEvents` version 3,
 * where it is a list of blocks.
 */
export interface StreamModesRun {
  /** The stream modes that the client requested, with their REST names, such as `messages-tuple`. */
  readonly modes: readonly string[]
  /** Whether the client requested the chunks of subgraphs, too. */
  readonly subgraphs: boolean
}

/** Execution options of a run, merged into the agent's configuration. Plain functions ignore them. */
export interface GraphConfig {
  /** The nodes before which the run stops; `*` means all nodes. */
  readonly interruptBefore?: '*' | readonly string[] | undefined
  readonly interruptAfter?: '*' | readonly string[] | undefined
  /** When checkpoints are saved: before the next step, during it, or at the end. Default: `async`. */
  readonly durability?: 'sync' | 'async' | 'exit' | undefined
  /** The namespace of the checkpoint to start from. Default: the root. */
  readonly checkpointNs?: string | undefined
  /** The checkpoints of the enclosing graphs, by namespace. */
  readonly checkpointMap?: Readonly<Record<string, string>> | undefined
}

/** The configuration of a run. */
export interface RunConfig extends GraphConfig {
  readonly configurable: Readonly<Record<string, unknown>>
  readonly recursionLimit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The result of the agent's `context` for this run, as plain JSON. */
  readonly context?: unknown
}

/** The address of a thread's state. */
export interface StateAddress {
  readonly threadId: string
  readonly checkpointer: Checkpointer
  /** The long-term memory of the thread's owner, for agents whose own code writes the state. */
  readonly graphStore?: GraphStore
  readonly checkpointId?: string | undefined
  /** The segments of the namespace joined with `|`. The root is `''`. */
  readonly checkpointNs?: string | undefined
  /** The config of the thread's last run by a REST client, for graphs that depend on their config. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

/** Which part of a history to read. */
export interface HistoryOptions {
  readonly limit?: number | undefined
  /** A checkpoint id. The history starts before this checkpoint. */
  readonly before?: string | undefined
  /** Metadata that checkpoints must have, compared for equality. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined
}

/** Values to write to the state. `asNode` is the node that the write is attributed to. */
export interface StateUpdate {
  readonly values: unknown
  readonly asNode?: string | undefined
}

/** The update of one node in a step. */
export interface StepUpdate extends StateUpdate {
  /** What a node may return instead of values. */
  readonly command?:
    | { readonly update?: unknown; readonly goto?: unknown; readonly resume?: unknown }
    | undefined
}

/** The address of a checkpoint. `checkpointNs` has the segments of the namespace joined with `|`. */
export interface CheckpointRef {
  readonly threadId: string
  readonly checkpointId: string
  readonly checkpointNs: string
  readonly checkpointMap: Readonly<Record<string, string>> | null
}

/** A question that waits for an answer. */
export interface PendingInterrupt {
  readonly id: string
  readonly value: unknown
}

/** The state of a thread at a checkpoint. */
export interface StateSnapshot {
  /** The complete state of the namespace, as plain JSON. */
  readonly values: Readonly<Record<string, unknown>>
  readonly next: readonly string[]
  readonly tasks: readonly SnapshotTask[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** ISO 8601. */
  readonly createdAt: string | null
  readonly checkpoint: CheckpointRef
  readonly parentCheckpoint: CheckpointRef | null
}

/** A task of a snapshot: a node to run next, with its error and interrupts. */
export interface SnapshotTask {
  readonly id: string
  readonly name: string
  readonly path: readonly unknown[]
  readonly error: string | null
  readonly interrupts: readonly PendingInterrupt[]
  /** The address at which a subgraph of this task stores its state. */
  readonly checkpoint: CheckpointRef | null
  /** The state of that subgraph, if it was requested. */
  readonly state: StateSnapshot | null
  readonly result: unknown
}
