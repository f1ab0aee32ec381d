import type { WireMessageEvent } from '../index.ts'

/** A change of a run at the root, or of a namespace: docs/protocol.md §5.3. */
export interface LifecycleData {
  /** The root begins with `running`, all other namespaces with `started`. */
  readonly event: 'running' | 'started' | 'completed' | 'failed' | 'interrupted'
  readonly graph_name?: string
  /** Only at the root. */
  readonly run_id?: string
  /** Text in the log. An agent may also send the error's class. */
  readonly error?: string | { readonly name: string; readonly message: string }
  readonly error_name?: string
  readonly cause?: { readonly type: 'toolCall'; readonly tool_call_id: string }
}

/** A tool call: docs/protocol.md §5.5. */
export type ToolData = { readonly tool_call_id: string } & (
  | {
      readonly event: 'tool-started'
      readonly tool_name: string
      /** The arguments, as JSON text. */
      readonly input: string
    }
  | { readonly event: 'tool-output-delta'; readonly delta: string }
  /** The tool message, or a `Command` whose `update` contains it. */
  | { readonly event: 'tool-finished'; readonly output: unknown }
  | { readonly event: 'tool-error'; readonly message: string }
)

/** A question to the user: docs/protocol.md §5.6. */
export interface InputRequestedData {
  readonly interrupt_id: string
  readonly payload: unknown
  /** The same as `payload`. */
  readonly value?: unknown
}

/** The update of a node: docs/protocol.md §5.8. */
export interface UpdateData {
  readonly node: string
  readonly values: unknown
  /** `values` is `{ value }`, because the node did not return an object. */
  readonly bare?: true
  readonly metadata?: unknown
}

/** A written checkpoint: docs/protocol.md §5.9. */
export interface CheckpointData {
  readonly id: string
  readonly parent_id?: string
  readonly step: number
  readonly source: 'input' | 'loop' | 'update' | 'fork'
  /** The state of this checkpoint is too long for an event: fetch it (docs/protocol.md §5.9). */
  readonly values_omitted?: true
}

/** The start of a task (`input`, `triggers`) or its end (`result` or `error`): docs/protocol.md §5.10. */
export interface TaskData {
  readonly id: string
  readonly name: string
  readonly input?: unknown
  readonly triggers?: readonly string[]
  readonly result?: unknown
  readonly error?: unknown
  readonly interrupts: readonly { readonly id: string; readonly value: unknown }[]
  readonly metadata?: unknown
}

/** An event from the agent's own code: docs/protocol.md §5.11. */
export interface CustomData {
  readonly name?: string
  readonly payload: unknown
}

/** The `data` of an event by its `method`, with the protocol's names. The log passes on what agents write. */
export interface EventData {
  readonly lifecycle: LifecycleData
  readonly messages: WireMessageEvent
  readonly tools: ToolData
  /** The complete state of the namespace. */
  readonly values: unknown
  readonly updates: UpdateData
  readonly checkpoints: CheckpointData
  readonly tasks: TaskData
  readonly 'input.requested': InputRequestedData
  readonly custom: CustomData
  /** A chunk of LangGraph's own stream, for clients of the REST API. No channel of the protocol has it. */
  readonly chunks: { readonly mode: string; readonly data: unknown }
}

/** The methods of the protocol's events, and `chunks` for REST clients. */
export type EventMethod = keyof EventData

/**
 * An event of the Agent Streaming Protocol before the engine numbers it. Its `method` determines the type of
 * `data`.
 */
export type AgentEvent<Method extends EventMethod = EventMethod> = {
  [M in Method]: {
    readonly method: M
    /** The path from the root, such as `['tools:<task id>', 'model_request:<task id>']`. The root is `[]`. */
    readonly namespace: readonly string[]
    readonly node?: string | undefined
    readonly data: EventData[M]
  }
}[Method]

/** An event whose method is a parameter. */
export const agentEvent = <M extends EventMethod>(
  method: M,
  namespace: readonly string[],
  data: EventData[M],
  node?: string,
): AgentEvent =>
  // TypeScript does not distribute an object of a generic method over the union.
  ({ method, namespace, ...(node !== undefined && { node }), data }) as AgentEvent

/**
 * An event of a thread's log, for code that reads it in process. Its `method` determines the type of `data`.
 */
export type ThreadEvent<Method extends EventMethod = EventMethod> = AgentEvent<Method> & {
  readonly type: 'event'
  /**
   * Never changes: `<fencing token>-<seq>`, or `synth:…` for a state that replaces events that the log no
   * longer has.
   */
  readonly eventId: string
  /** The sequence number in the log, from 1. A synthetic event has that of the last event before it. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  /** The run that sent it. Empty for a synthetic event. */
  readonly runId: string
  /** Only retracts what a lost attempt of the run sent, for clients that follow the state. */
  readonly superseded?: true
}

/** Retention dropped events that the reader has not received. The newest state follows. */
export interface LogGap {
  readonly type: 'gap'
  /** The last sequence number that the reader received. */
  readonly after: number
  /** The first sequence number that the log still has. */
  readonly firstRetained: number
}

/** An event of the log whose data are parsed on first access, for code that passes most events on unread. */
export type LoggedEvent<Method extends EventMethod = EventMethod> = ThreadEvent<Method> & {
  /** `data` as the JSON text that was written. */
  readonly json: string
}

/** Whether this event ends a run. */
export const isRunEnd = (event: AgentEvent): boolean =>
  // Accessing the data of a logged event parses them.
  event.method === 'lifecycle' && event.namespace.length === 0 && event.data.event !== 'running'
