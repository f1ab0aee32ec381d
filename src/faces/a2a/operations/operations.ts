import type { FaceCall } from '../../kit/routes.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type {
  A2AMessage,
  HistoryScope,
  ListRequest,
  PushConfig,
  PushConfigRequest,
  SendRequest,
  StreamEntry,
  Task,
  TaskList,
  TaskPushConfig,
  TaskRequest,
} from '../model.ts'
import type { A2AContext } from '../options.ts'

/** A request as operations see it, parsed from either dialect. */
export interface A2ACall {
  readonly context: A2AContext
  /** The signal of a stream also aborts when its response is cancelled: reading stops, the task continues. */
  readonly call: FaceCall
  /** As named in the path. */
  readonly assistantId: string
  readonly dialect: Dialect
  /** The `metadata` of the JSON-RPC object itself, where LangGraph's clients send `thread_id`. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly lastEventId: string | undefined
  /** From the header. */
  readonly historyScope: HistoryScope
}

export type Sent = { readonly task: Task } | { readonly message: A2AMessage }

/**
 * The operations of this face, one function for each `Operation`. They throw `A2AError`, or errors of the
 * engine. A stream rejects a request by throwing before its first batch of entries. When the client
 * disconnects, its iterator is returned.
 */
export interface Operations {
  send(call: A2ACall, request: SendRequest): Promise<Sent>
  stream(call: A2ACall, request: SendRequest): AsyncIterable<readonly StreamEntry[]>
  getTask(call: A2ACall, request: TaskRequest): Promise<Task>
  listTasks(call: A2ACall, request: ListRequest): Promise<TaskList>
  cancelTask(call: A2ACall, request: TaskRequest): Promise<Task>
  subscribe(call: A2ACall, request: TaskRequest): AsyncIterable<readonly StreamEntry[]>
  setPush(
    call: A2ACall,
    request: { readonly taskId: string; readonly config: PushConfig },
  ): Promise<TaskPushConfig>
  getPush(call: A2ACall, request: PushConfigRequest): Promise<TaskPushConfig>
  listPush(call: A2ACall, request: PushConfigRequest): Promise<readonly TaskPushConfig[]>
  deletePush(call: A2ACall, request: PushConfigRequest): Promise<void>
  /** The card in the call's dialect. */
  extendedCard(call: A2ACall): Promise<unknown>
}
