/**
 * What the two dialects of A2A say, in one form. Everything of this face but `dialects/` works on it, so that a wire name is spelled
 * once for each dialect. Source: the A2A specification, v0.3.0 §6 and v1.0 §4.
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
  /** v1.0 lets every part have them; v0.3 only files. */
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

export type Part =
  | (PartFields & { readonly kind: 'text'; readonly text: string })
  /** v0.3 allows objects only. */
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
  /** LangGraph's own field of a message: `resume` has the answers to the interrupts of the task. */
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
  /** Absent where the caller asked for none. */
  readonly history?: readonly A2AMessage[] | undefined
  readonly artifacts?: readonly Artifact[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** One item of a stream. A stream begins with a task, or is exactly one message. */
export type StreamItem =
  | { readonly type: 'task'; readonly task: Task }
  | { readonly type: 'message'; readonly message: A2AMessage }
  | StatusUpdate
  | ArtifactUpdate

/** An item of a stream, and what a client sends as `Last-Event-ID` to go on after it. */
export interface StreamEntry {
  readonly id?: string | undefined
  readonly item: StreamItem
}

export interface StatusUpdate {
  readonly type: 'status'
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  /** The stream ends with it: the state is terminal, or waits for the client. Only v0.3 says it. */
  readonly final: boolean
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface ArtifactUpdate {
  readonly type: 'artifact'
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  /** The parts continue the artifact of this id; else they replace it. */
  readonly append: boolean
  readonly lastChunk: boolean
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Where the changes of a task are sent. */
export interface PushConfig {
  /** Default: the id of the task (v0.3) or one that the server makes (v1.0). */
  readonly id?: string | undefined
  readonly url: string
  /** Sent back as `X-A2A-Notification-Token`. */
  readonly token?: string | undefined
  /** v1.0 has one scheme. */
  readonly authentication?:
    | { readonly schemes: readonly string[]; readonly credentials?: string | undefined }
    | undefined
}

/** Whose messages a history has. LangGraph's own: no version of A2A has the field. Default: what the header says, else the task's. */
export type HistoryScope = 'task' | 'context'

export interface SendRequest {
  readonly message: A2AMessage
  readonly acceptedOutputModes?: readonly string[] | undefined
  /** The answer waits for the end of the task or for a question of it. Default true. */
  readonly blocking: boolean
  /** The most messages of the history that are given, 0 for none. Default: the server's. */
  readonly historyLength?: number | undefined
  readonly historyScope?: HistoryScope | undefined
  readonly push?: PushConfig | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** What names a task: `contextId:runId`, or a run id beside its context, as LangGraph's server takes it. */
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
  /** 1 to 100. Default 50. */
  readonly pageSize: number
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  /** Milliseconds since 1970; tasks whose status is at least as new. */
  readonly changedSince?: number | undefined
  readonly includeArtifacts: boolean
}

export interface TaskList {
  readonly tasks: readonly Task[]
  /** Empty at the end. */
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

export interface PushConfigRequest {
  readonly taskId: string
  /** Absent where all of a task's are meant, and in v0.3 where the task has one. */
  readonly configId?: string | undefined
}

export interface TaskPushConfig {
  readonly taskId: string
  readonly config: PushConfig & { readonly id: string }
}
