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

/** What a client may ask, whatever the dialect calls it. */
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
 * One version of the protocol: its method names, how its params are read, and how results are written. Lists of tasks are missing here,
 * because only v1.0 has them.
 */
export interface Dialect {
  readonly version: '0.3' | '1.0'
  /** Method name to operation. No name is in both dialects. */
  readonly methods: ReadonlyMap<string, Operation>

  readonly readers: () => Promise<Readers>

  writeMessage(message: A2AMessage): unknown
  writeSent(result: { readonly task: Task } | { readonly message: A2AMessage }): unknown
  writeTask(task: Task): unknown
  writeItem(item: StreamItem): unknown
  writePush(push: TaskPushConfig): unknown
  writePushList(pushes: readonly TaskPushConfig[]): unknown
  /** What a webhook is sent, and its media type. */
  writeNotification(item: StreamItem, task: Task): { readonly body: unknown; readonly contentType: string }
}

/**
 * How the params of a dialect are read. They throw `A2AError` (`invalid_params`, or `content_type_not_supported` for parts), whose
 * message names the path of what is wrong, and ignore fields that they do not know.
 */
export interface Readers {
  readSend(params: unknown): SendRequest
  readTask(params: unknown): TaskRequest
  readSetPush(params: unknown): { readonly taskId: string; readonly config: PushConfig }
  readPush(params: unknown, operation: 'getPush' | 'listPush' | 'deletePush'): PushConfigRequest
}
