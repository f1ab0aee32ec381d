import type { PendingInterrupt, StateUpdate, StepUpdate, StreamModesRun } from '../agents/agent.ts'
import type { Access, Principal } from '../core/principal.ts'
import type { Message } from '../messages/index.ts'
import type { Json, Op } from '../storage/store/store.ts'
import type { EventFilter } from './log/filter.ts'
import type { CommandKey, RunReceipt } from './records/idempotency.ts'
import type {
  AnswerRecord,
  loadWithState,
  MultitaskStrategy,
  RunRecords,
  StoredConfig,
  ThreadRecord,
  ThreadTtl,
} from './records/records.ts'

/** A thread, and the principal that accesses it. */
export interface ThreadAddress {
  readonly threadId: string
  /**
   * The caller, which can only access its own resources. Default: null, as on a server without
   * authentication.
   */
  readonly principal?: Principal | null | undefined
}

/** A run to start. */
export interface RunRequest extends ThreadAddress {
  /** Default: the thread's assistant, otherwise the engine's default. */
  readonly assistantId?: string | undefined
  /**
   * The agent's input. Null or absent continues from the checkpoint. If one interrupt waits for an answer,
   * and the last run has not failed, the input is that answer.
   */
  readonly input?: unknown
  /**
   * The checkpoint to fork from. Null: start with an empty state. Default: continue from the newest
   * checkpoint.
   */
  readonly checkpointId?: string | null | undefined
  /** Whether the thread id was just created for this run, so that no lookup is needed. Default: false. */
  readonly isNewThread?: boolean | undefined
  /** Whether to fail instead of creating the thread. Default: false. */
  readonly mustExist?: boolean | undefined
  /** What to do if another run holds the thread. Default: `enqueue`. */
  readonly multitaskStrategy?: MultitaskStrategy | undefined
  readonly config?: StoredConfig | undefined
  /**
   * Runs a graph like LangGraph's servers do for REST clients. Default: the mode of the streaming protocol.
   */
  readonly classic?: StreamModesRun | undefined
  /** The runtime context that the caller requests. Keys from the agent's own `context` take precedence. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** The thread's title, if it has none yet. */
  readonly title?: string | undefined
  /** The metadata of the thread, if the run creates it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The idempotency key: a repeated request does not start a second run. */
  readonly command?: CommandKey | undefined
  /**
   * Makes the run part of an answer that is kept with its thread: the first run of a new answer with
   * `details`, which are stored with it, or a run that continues the answer `id`. Default: a run that answers
   * questions continues the answer that asked; any other run belongs to none.
   */
  readonly answer?: { readonly id?: string | undefined; readonly details: Json } | undefined
  /** The minimum wait before it starts, in milliseconds. The thread is `busy` in the meantime. Default: 0. */
  readonly startAfterMs?: number | undefined
  /**
   * Data to store with the run, for `getRun`. The record of a run with details is kept as long as its thread.
   * Default: none, and the record of an ended run is kept for a day.
   */
  readonly details?: Json | undefined
  /**
   * Whether a thread that the run creates is deleted some time after its last run has ended, for callers that
   * may not live that long. Default: false.
   */
  readonly temporary?: boolean | undefined
  /**
   * What happens to a thread that the run creates after it has not changed for some time. Default: it is
   * kept.
   */
  readonly ttl?: ThreadTtl | undefined
  /** Additional writes of the commit that records the run, in its thread's partition. */
  readonly extraOps?: readonly Op[] | undefined
  /** The id of the run, a new UUID version 7. Default: created by the engine. */
  readonly runId?: string | undefined
  /** Merged into the metadata of the thread, even if the run does not create it. */
  readonly threadMetadata?: Readonly<Record<string, unknown>> | undefined
  /** The config of the thread from now on. Default: unchanged. */
  readonly threadConfig?: Readonly<Record<string, unknown>> | undefined
  /** The HTTP request that started the run, for the `context` of its agent. */
  readonly request?: Request | undefined
  /** The W3C `traceparent` of the request. */
  readonly traceparent?: string | null | undefined
  /**
   * The UUID of the assistant that `config` and `context` come from, which permission checks of faces ask about.
   * Default: the agent's own settings.
   */
  readonly settingsFrom?: string | undefined
  /**
   * The look at the thread, with the same `command`, on which this request was decided: nothing of it is read
   * again. Throws `ConflictError` if the thread has changed since; `retryConflicts` then looks and decides again.
   * Default: the thread is read, and again after a conflict.
   */
  readonly looked?: ThreadLook | undefined
}

/**
 * What starting a run reads first: the record of the thread, the state of its partition, and the record of
 * the command.
 */
export type LoadedStart = Awaited<ReturnType<typeof loadWithState>>

/** A thread with other records that a request needs, read together. */
export interface ThreadLook {
  /** The caller's thread. */
  readonly thread: ThreadRecord | undefined
  /** Whether a thread with this id exists, for any owner. */
  readonly isTaken: boolean
  /** The requested answer, if it is kept. */
  readonly answer: AnswerRecord | undefined
  readonly command: CommandKey | undefined
  /** A `LoadedStart`: what starting a run reads of the thread. Only for the engine. */
  readonly loaded: object
}

/** Answers to interrupts of a thread. */
export interface Answers
  extends Omit<RunRequest, 'input' | 'isNewThread' | 'mustExist' | 'title' | 'metadata'> {
  /** By interrupt id. Interrupts without an answer stay open. */
  readonly answers: Readonly<Record<string, unknown>>
  /** A state update to write with the answers. */
  readonly update?: unknown
  /** For LangGraph: a node name, `{ node, input }`, or an array of both. */
  readonly goto?: unknown
}

/** Which events of a thread to read. */
export interface ThreadEvents extends ThreadAddress {
  /** Only this run's events, until its end. Default: the events of all runs, without an end. */
  readonly runId?: string | undefined
  /** Only events with a higher sequence number. Default: 0, everything that the log still has. */
  readonly after?: number | undefined
  /** Default: all events. */
  readonly filter?: EventFilter | undefined
  /** Ends the iteration, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** A subscription to a thread's events. */
export interface ThreadSubscription extends ThreadAddress {
  readonly filter: EventFilter
  /** Only events with a higher sequence number. */
  readonly since?: number | undefined
  /**
   * Only events after this one if the log still has it, otherwise all events. Takes precedence over `since`.
   */
  readonly lastEventId?: string | undefined
}

/** A thread to create. */
export interface NewThreadRequest extends ThreadAddress {
  readonly assistantId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What happens to the thread after it has not changed for some time. Default: it is kept. */
  readonly ttl?: ThreadTtl | undefined
  /** The idempotency key: a repeated request returns the thread that the first one created. */
  readonly command?: CommandKey | undefined
}

/** Values to write to the state of a thread. */
export interface StateWriteRequest extends ThreadAddress, StateUpdate {
  /** The checkpoint to write on top of, which makes a fork. Default: the thread's head. */
  readonly checkpointId?: string | undefined
  readonly checkpointNs?: string | undefined
  /**
   * Replaces `values`: the steps of a run, each with the updates of its nodes. Throws `not_supported` if the
   * agent does not support it.
   */
  readonly steps?: readonly (readonly StepUpdate[])[] | undefined
  /** Creates the thread, which must not exist yet, with the write. */
  readonly newThread?: Pick<NewThreadRequest, 'assistantId' | 'metadata' | 'ttl'> | undefined
  readonly title?: string | undefined
  /** The idempotency key: a repeated request does not write a second checkpoint. */
  readonly command?: CommandKey | undefined
  /** As in `RunRequest`. */
  readonly looked?: ThreadLook | undefined
}

/** A run that was accepted. */
export interface AcceptedRun {
  readonly receipt: RunReceipt
  /** The records that its start wrote. Undefined if the run waits, or was started by an earlier request. */
  readonly records?: RunRecords | undefined
}

/** The result of a run. */
export interface RunResult {
  readonly runId: string
  readonly status: 'success' | 'error' | 'interrupted'
  /** The reason of its failure, as clients see it. */
  readonly error: string | null
  /** The name of the error's class if it failed: `Error` if clients do not see the text. */
  readonly errorName?: string | undefined
  /** The interrupts that are now open on the thread. */
  readonly interrupts: readonly PendingInterrupt[]
}

/** A run to wait for: with an input, or with the answers to the questions of an earlier one. */
export type WholeRunRequest = (Omit<RunRequest, 'threadId'> | Omit<Answers, 'threadId'>) & {
  /** Default: a new thread. */
  readonly threadId?: string | undefined
}

/** A run that has ended, or waits for answers, with what stands in its thread. */
export interface WholeRun extends RunResult {
  readonly threadId: string
  /** All messages of the thread. */
  readonly messages: readonly Message[]
  /** The text of the last message, or of the one before its tool calls. Empty if the agent has not said anything. */
  readonly text: string
}

/** A request inside the engine, with the access of its principal. */
export type Owned<Request extends ThreadAddress> = Omit<Request, 'principal'> & Access
