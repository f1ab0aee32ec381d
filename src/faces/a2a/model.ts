/**
 * The data of both A2A dialects, in one form. All of this face except `dialects/` uses it, so that each wire
 * name is written once per dialect. Source: the A2A specification, v0.3.0 §6 and v1.0 §4.
 */

export type TaskState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'auth-required'
  | 'completed'
  | 'canceled'
  | 'failed'
  | 'rejected'

interface PartFields {
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** v1.0 allows these in every part, v0.3 only in files. */
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

export type Part =
  | (PartFields & { readonly kind: 'text'; readonly text: string })
  /** v0.3 allows only objects. */
  | (PartFields & { readonly kind: 'data'; readonly data: unknown })
  /** Base64, standard alphabet with padding. */
  | (PartFields & { readonly kind: 'bytes'; readonly bytes: string })
  | (PartFields & { readonly kind: 'uri'; readonly uri: string })

export interface A2AMessage {
  readonly messageId: string
  readonly role: 'user' | 'agent'
  /** At least one. */
  readonly parts: readonly Part[]
  readonly contextId?: string | undefined
  readonly taskId?: string | undefined
  readonly referenceTaskIds?: readonly string[] | undefined
  readonly extensions?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** LangGraph's extension of a message: `resume` has the answers to the task's interrupts. */
  readonly command?: { readonly resume?: unknown; readonly [field: string]: unknown } | undefined
}

export interface TaskStatus {
  readonly state: TaskState
  readonly message?: A2AMessage | undefined
  /** ISO 8601 in UTC with milliseconds. */
  readonly timestamp: string
}

export interface Artifact {
  readonly artifactId: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** At least one. */
  readonly parts: readonly Part[]
  readonly extensions?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  /** Absent if the caller requested none. */
  readonly history?: readonly A2AMessage[] | undefined
  readonly artifacts?: readonly Artifact[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** An item of a stream. A stream begins with a task, or is exactly one message. */
export type StreamItem =
  | { readonly type: 'task'; readonly task: Task }
  | { readonly type: 'message'; readonly message: A2AMessage }
  | StatusUpdate
  | ArtifactUpdate

/** An item of a stream, with the id that a client sends as `Last-Event-ID` to continue after it. */
export interface StreamEntry {
  readonly id?: string | undefined
  readonly item: StreamItem
}

export interface StatusUpdate {
  readonly type: 'status'
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  /** The last item of the stream: the state is terminal, or waits for the client. Only sent in v0.3. */
  readonly final: boolean
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface ArtifactUpdate {
  readonly type: 'artifact'
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  /** Whether the parts continue the artifact with this id; otherwise they replace it. */
  readonly append: boolean
  readonly lastChunk: boolean
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Where to send the changes of a task. */
export interface PushConfig {
  /** Default: the id of the task (v0.3), or an id that the server creates (v1.0). */
  readonly id?: string | undefined
  readonly url: string
  /** Sent to the receiver as `X-A2A-Notification-Token`. */
  readonly token?: string | undefined
  /** v1.0 has one scheme. */
  readonly authentication?:
    | { readonly schemes: readonly string[]; readonly credentials?: string | undefined }
    | undefined
}

/**
 * Which messages a history contains. A LangGraph extension: no version of A2A has the field. Default: from
 * the header, otherwise `task`.
 */
export type HistoryScope = 'task' | 'context'

export interface SendRequest {
  readonly message: A2AMessage
  readonly acceptedOutputModes?: readonly string[] | undefined
  /** Whether the response waits for the task to end or ask. Default: true. */
  readonly blocking: boolean
  /** The maximum number of history messages; 0 for none. Default: set by the server. */
  readonly historyLength?: number | undefined
  readonly historyScope?: HistoryScope | undefined
  readonly push?: PushConfig | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Identifies a task: `contextId:runId`, or a run id together with its context, as in LangGraph's server. */
export interface TaskRequest {
  readonly id: string
  readonly contextId?: string | undefined
  readonly historyLength?: number | undefined
  readonly historyScope?: HistoryScope | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface ListRequest {
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  /** 1 to 100. Default: 50. */
  readonly pageSize: number
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  /** Milliseconds since 1970. Only tasks whose status is at least as new. */
  readonly changedSince?: number | undefined
  readonly includeArtifacts: boolean
}

export interface TaskList {
  readonly tasks: readonly Task[]
  /** Empty on the last page. */
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

export interface PushConfigRequest {
  readonly taskId: string
  /** Absent if all configs of the task are meant, and in v0.3 if the task has only one. */
  readonly configId?: string | undefined
}

export interface TaskPushConfig {
  readonly taskId: string
  readonly config: PushConfig & { readonly id: string }
}
