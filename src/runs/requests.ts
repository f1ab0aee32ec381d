import type { PendingInterrupt, StateUpdate, StepUpdate, StreamModesRun } from '../agents/agent.ts'
import type { Access, Principal } from '../principal.ts'
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
  /** The caller, which can only access what it owns. Default null, as on a server without authentication. */
  readonly principal?: Principal | null | undefined
}

/** A run to start. */
export interface RunRequest extends ThreadAddress {
  /** Default: the thread's, else the engine's default. */
  readonly assistantId?: string | undefined
  /**
   * The agent's input. Null or absent continues from the checkpoint. Where one interrupt waits for an answer, and the last run has
   * not failed, the input is that answer.
   */
  readonly input?: unknown
  /** Fork from this checkpoint. Null: begin with an empty state. Default: go on from the newest one. */
  readonly checkpointId?: string | null | undefined
  /** The id of the thread was made for this run just now, so that nothing of it need be looked up. Default false. */
  readonly isNewThread?: boolean | undefined
  /** Fail instead of creating the thread. Default false. */
  readonly mustExist?: boolean | undefined
  /** What to do while another run holds the thread. Default: `enqueue`. */
  readonly multitaskStrategy?: MultitaskStrategy | undefined
  readonly config?: StoredConfig | undefined
  /** Runs a graph as LangGraph's servers do it for clients of the REST. Default: as the streaming protocol needs it. */
  readonly classic?: StreamModesRun | undefined
  /** The runtime context that the caller asks for. The keys that the agent's own `context` makes of the request win. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** Gives `config` and `context` where they depend on the thread. It is called once, before the run is accepted. */
  readonly settingsOf?:
    | ((thread: ThreadRecord) => Promise<Pick<RunRequest, 'config' | 'context'>>)
    | undefined
  /** The thread's title, where it has none yet. */
  readonly title?: string | undefined
  /** The metadata of the thread, where the run creates it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The idempotency key: a repeated request starts no second run. */
  readonly command?: CommandKey | undefined
  /**
   * Makes the run one of an answer that is kept with its thread: the first of a new one with `details`, which the caller keeps with
   * it, or one that goes on with the answer `id`. Default: a run that answers questions goes on with the answer that asked, any other
   * is of none.
   */
  readonly answer?: { readonly id?: string | undefined; readonly details: Json } | undefined
  /** Waits at least so long before it starts, in milliseconds, while the thread is `busy`. Default 0. */
  readonly startAfterMs?: number | undefined
  /** What the caller keeps with the run, for `getRun`. The record of a run that has some stays as long as its thread. Default: none, and a day. */
  readonly details?: Json | undefined
  /** Whether a thread that the run makes is deleted some time after its last run has ended, for callers that do not live so long. Default false. */
  readonly temporary?: boolean | undefined
  /** What becomes of a thread that the run makes when nothing happens to it any more. Default: it stays. */
  readonly ttl?: ThreadTtl | undefined
  /** Gives what is written in the commit that records the run, on its thread. */
  readonly extraOps?: ((runId: string) => readonly Op[]) | undefined
  /** The id of the run, a new UUID version 7. Default: the engine makes one. */
  readonly runId?: string | undefined
  /** Merged into the metadata of the thread, whoever has made it. */
  readonly threadMetadata?: Readonly<Record<string, unknown>> | undefined
  /** What the thread is configured with from now on. Default: what it was before. */
  readonly threadConfig?: Readonly<Record<string, unknown>> | undefined
  /** The HTTP request that asked for the run, for the `context` of its agent. */
  readonly request?: Request | undefined
  /** The W3C `traceparent` of what asked for the run. */
  readonly traceparent?: string | null | undefined
  /** Throws for an assistant that the caller may not run, and gives the caller as it may. Called when the request names none. */
  readonly permit?: ((assistantId: string) => Promise<Principal | null>) | undefined
  /** Throws where the caller does not want to do this to the thread. Called with the record that the commit is guarded by. */
  readonly accept?: ((thread: ThreadRecord) => void) | undefined
  /** What `lookAtThread` has just seen of the thread, with the same `command`. Default: it is read. */
  readonly looked?: ThreadLook | undefined
}

/** What a start of a run reads first: the record of the thread, the state of its partition, and the record of the command. */
export type LoadedStart = Awaited<ReturnType<typeof loadWithState>>

/** A thread with what else a request wants to know of it, read at once. */
export interface ThreadLook {
  /** The caller's thread. */
  readonly thread: ThreadRecord | undefined
  /** Whether there is a thread of this id, whoever has it. */
  readonly isTaken: boolean
  /** The answer that was asked for, if it is kept. */
  readonly answer: AnswerRecord | undefined
  readonly command: CommandKey | undefined
  /** A `LoadedStart`: what a start reads of the thread. Nobody else needs it. */
  readonly loaded: object
}

/** Answers to interrupts of a thread. */
export interface Answers
  extends Omit<RunRequest, 'input' | 'isNewThread' | 'mustExist' | 'title' | 'metadata'> {
  /** By interrupt id. Interrupts without an answer stay open. */
  readonly answers: Readonly<Record<string, unknown>>
  /** A state update to write with them. */
  readonly update?: unknown
  /** LangGraph: a node name, `{ node, input }`, or an array of both. */
  readonly goto?: unknown
}

export interface ThreadEvents extends ThreadAddress {
  /** Only this run's events, until its end. Default: the events of all runs, without an end. */
  readonly runId?: string | undefined
  /** Only events with a higher sequence number. Default 0: everything the log still has. */
  readonly after?: number | undefined
  /** Default: everything. */
  readonly filter?: EventFilter | undefined
  /** Ends the iteration, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface ThreadSubscription extends ThreadAddress {
  readonly filter: EventFilter
  /** Only events with a higher sequence number. */
  readonly since?: number | undefined
  /** Only events after this one, when the log still has it; else everything. Takes precedence over `since`. */
  readonly lastEventId?: string | undefined
}

export interface NewThreadRequest extends ThreadAddress {
  readonly assistantId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What becomes of it when nothing happens to it any more. Default: it stays. */
  readonly ttl?: ThreadTtl | undefined
  /** The idempotency key: a repeated request returns the thread that the first one created. */
  readonly command?: CommandKey | undefined
}

export interface StateWriteRequest extends ThreadAddress, StateUpdate {
  /** Write on top of this checkpoint: a fork. Default: the thread's head. */
  readonly checkpointId?: string | undefined
  readonly checkpointNs?: string | undefined
  /** In place of `values`: the steps of a run, each with what its nodes did. Throws `not_supported` where the agent cannot take it. */
  readonly steps?: readonly (readonly StepUpdate[])[] | undefined
  /** Makes the thread, which must not be there yet, with the write. */
  readonly newThread?: Pick<NewThreadRequest, 'assistantId' | 'metadata' | 'ttl'> | undefined
  readonly title?: string | undefined
  /** The idempotency key: a repeated request writes no second checkpoint. */
  readonly command?: CommandKey | undefined
  /** Throws where the caller does not want to do this to the thread. Called with the record that the commit is guarded by. */
  readonly accept?: ((thread: ThreadRecord) => void) | undefined
}

/** A run that was accepted. */
export interface AcceptedRun {
  readonly receipt: RunReceipt
  /** What its start has written. Undefined where it waits, and where it was started before. */
  readonly records?: RunRecords | undefined
}

/** The result of a run. */
export interface RunResult {
  readonly runId: string
  readonly status: 'success' | 'error' | 'interrupted'
  /** What clients are told of why it failed. */
  readonly error: string | null
  /** The name of the class of that error, where it has failed: `Error` where clients are not told. */
  readonly errorName?: string | undefined
  /** The interrupts that are open on the thread now. */
  readonly interrupts: readonly PendingInterrupt[]
}

/** A request inside of the engine, which knows what the principal may reach. */
export type Owned<Request extends ThreadAddress> = Omit<Request, 'principal'> & Access
