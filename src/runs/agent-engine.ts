import type { Agent, HistoryOptions, StateSnapshot } from '../agents/agent.ts'
import type { GraphStore } from '../graph-store/index.ts'
import type { Access, Principal } from '../principal.ts'
import type { Answer, BeginAnswer, FindAnswer } from './answers/answer.ts'
import type { AnswerQuery, FoundAnswer } from './answers/find.ts'
import type { SnapshotQuery, ThreadSnapshot } from './answers/snapshot.ts'
import type { EventForm, EventItem, EventStream } from './log/form.ts'
import type { EngineMeasures } from './measure.ts'
import type { ThreadPatch } from './mutations/write-record.ts'
import type { RunReceipt, StateReceipt } from './records/idempotency.ts'
import type { CancelAction, RunRecord, ThreadRecord } from './records/records.ts'
import type {
  Answers,
  NewThreadRequest,
  RunRequest,
  RunResult,
  StateWriteRequest,
  ThreadAddress,
  ThreadEvents,
} from './requests.ts'
import type { RunListQuery } from './threads/list-runs.ts'
import type { ThreadListQuery } from './threads/lists.ts'
import type { StateQuery } from './threads/state.ts'

export interface ThreadList extends Omit<ThreadListQuery, keyof Access> {
  readonly principal?: Principal | null | undefined
}

/**
 * The only place where runs start, wait, stop and end. Every face of the server uses it, and code on the server can use it
 * without HTTP: see docs/engine.md. Refusals are `RunError`s, whose messages say what to do.
 */
export interface AgentEngine {
  readonly agents: ReadonlyMap<string, Agent>
  /** A principal's long-term memory, which graphs get as `store`. */
  graphStore(principal?: Principal | null): GraphStore
  /** Starts a run, creating the thread when there is none. Settles when it is recorded, not when it ends. */
  start(request: RunRequest): Promise<RunReceipt>
  /** Starts a run that continues with the answers. Throws `no_such_interrupt`. */
  respond(request: Answers): Promise<RunReceipt>
  /** Settles when the run has ended, on any instance. Throws `no_such_run`, and `closing` when this engine closes first. */
  wait(run: ThreadAddress & { readonly runId: string; readonly signal?: AbortSignal }): Promise<RunResult>
  /**
   * Asks a run to stop, or an answer: all its runs and what it has asked. A run that waits is dropped. Settles when that is recorded.
   * Throws `no_such_run` and `no_such_task`.
   */
  cancel(
    what: ThreadAddress &
      ({ readonly runId: string; readonly action?: CancelAction } | { readonly answerId: string }),
  ): Promise<void>
  /**
   * Starts an answer, or goes on with one that has asked, and gives its events until it ends or asks. Leaving it stops nothing,
   * unless `cancelOnLeave` is set.
   */
  follow<Json extends boolean = false, Batches extends boolean = false>(
    request: BeginAnswer & EventForm<Json, Batches>,
  ): Promise<Answer<EventItem<Json, Batches>>>
  /** The same of an answer that was started. Undefined where the principal has no such one, or the thread no active one. */
  follow<Json extends boolean = false, Batches extends boolean = false>(
    request: FindAnswer & EventForm<Json, Batches>,
  ): Promise<Answer<EventItem<Json, Batches>> | undefined>
  /**
   * An answer of one of the principal's threads, by its id or that of one of its runs; the active one where none is named. A run that
   * was not started as one is an answer under its own id, for as long as its record is kept.
   */
  findAnswer(answer: ThreadAddress & AnswerQuery): Promise<FoundAnswer | undefined>
  /**
   * A thread's state, open questions and active answer, with the sequence number at which they are true: what follows it misses and
   * repeats nothing. Undefined where the principal has no such thread.
   */
  snapshot(thread: ThreadAddress & SnapshotQuery): Promise<ThreadSnapshot | undefined>
  /**
   * The events of a thread, past and future, on any instance. They are pulled: nothing is read ahead, and leaving the loop ends
   * the subscription.
   */
  events<Json extends boolean = false, Batches extends boolean = false>(
    request: ThreadEvents & EventForm<Json, Batches>,
  ): EventStream<Json, Batches>
  /** Undefined where the principal has no such thread. */
  findThread(thread: ThreadAddress): Promise<ThreadRecord | undefined>
  /** Makes an empty thread. Undefined when the id is taken, by this or another owner. */
  createThread(thread: NewThreadRequest): Promise<ThreadRecord | undefined>
  /** Merges keys into a thread's metadata, or sets its time to live. Throws `no_such_thread`. */
  patchThread(thread: ThreadAddress & ThreadPatch): Promise<ThreadRecord>
  /**
   * Makes a thread with all checkpoints of another one, under their ids, and none of its runs and events. The other one may be busy.
   * Throws `no_such_thread`.
   */
  copyThread(thread: ThreadAddress & { readonly newThreadId: string }): Promise<ThreadRecord>
  /** Deletes a thread with its run, log, records and checkpoints. False where the principal has no such thread. */
  deleteThread(thread: ThreadAddress): Promise<boolean>
  /** A principal's threads, newest first unless asked otherwise. */
  listThreads(query?: ThreadList): AsyncIterable<ThreadRecord>
  /** How many threads a principal has, all or those of one status or with some values in their metadata. */
  countThreads(query?: Pick<ThreadList, 'principal' | 'status' | 'where' | 'lookAt'>): Promise<number>
  /** The record of a run. Undefined where the principal has no such run, or its record was not kept. */
  getRun(run: ThreadAddress & { readonly runId: string }): Promise<RunRecord | undefined>
  /** The runs of a thread, newest first. Ended ones without `details` are kept for a day. Throws `no_such_thread`. */
  listRuns(thread: ThreadAddress & RunListQuery): Promise<readonly RunRecord[]>
  /**
   * Deletes the record of a run; one that has not ended is cancelled first. Its checkpoints stay, because later ones go on from
   * them, and so do its events. False where the principal has no such run.
   */
  deleteRun(run: ThreadAddress & { readonly runId: string }): Promise<boolean>
  /** The state of a thread that `findThread` gave, or undefined before its first checkpoint. */
  readState(thread: ThreadRecord, query?: StateQuery): Promise<StateSnapshot | undefined>
  /** Snapshots newest first. */
  readHistory(thread: ThreadRecord, query: StateQuery, options: HistoryOptions): AsyncIterable<StateSnapshot>
  /** Writes a checkpoint from outside a run, creating the thread when there is none. Throws `thread_busy` during a run. */
  writeState(write: StateWriteRequest): Promise<StateReceipt>
  /**
   * The checkpoint from which a run forks before a message, on whatever branch that is: to edit it, or to have it written again. Null
   * where the first state has it, so that the run begins with an empty one. Undefined where no state has it.
   */
  checkpointBefore(
    message: ThreadAddress & { readonly messageId: string },
  ): Promise<string | null | undefined>
  measure(): Promise<EngineMeasures>
  /** Closes what is attached, drains, stops or hands over the runs of this process, and ends every subscription. */
  close(): Promise<void>
}
