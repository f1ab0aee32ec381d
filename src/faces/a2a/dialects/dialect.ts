import type {
  A2AMessage,
  PushConfig,
  PushConfigRequest,
  SendRequest,
  StreamItem,
  Task,
  TaskPushConfig,
  TaskRequest,
} from '../model.ts'

/** An operation that a client can request, independent of its name in a dialect. */
export type Operation =
  | 'send'
  | 'stream'
  | 'getTask'
  | 'listTasks'
  | 'cancelTask'
  | 'subscribe'
  | 'setPush'
  | 'getPush'
  | 'listPush'
  | 'deletePush'
  | 'extendedCard'

/**
 * One version of the protocol: its method names, the parsing of params and the format of results. Task lists
 * are not included, because only v1.0 has them.
 */
export interface Dialect {
  readonly version: '0.3' | '1.0'
  /** Method names, mapped to operations. No name is in both dialects. */
  readonly methods: ReadonlyMap<string, Operation>

  readonly readers: () => Promise<Readers>

  writeMessage(message: A2AMessage): unknown
  writeSent(result: { readonly task: Task } | { readonly message: A2AMessage }): unknown
  writeTask(task: Task): unknown
  writeItem(item: StreamItem): unknown
  writePush(push: TaskPushConfig): unknown
  writePushList(pushes: readonly TaskPushConfig[]): unknown
  /** The body of a webhook request, and its media type. */
  writeNotification(item: StreamItem, task: Task): { readonly body: unknown; readonly contentType: string }
}

/**
 * Parses the params of a dialect. Functions throw `A2AError` (`invalid_params`, or
 * `content_type_not_supported` for parts), whose message has the path of the invalid value. Unknown fields
 * are ignored.
 */
export interface Readers {
  readSend(params: unknown): SendRequest
  readTask(params: unknown): TaskRequest
  readSetPush(params: unknown): { readonly taskId: string; readonly config: PushConfig }
  readPush(params: unknown, operation: 'getPush' | 'listPush' | 'deletePush'): PushConfigRequest
}
