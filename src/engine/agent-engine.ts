import type { Agent, HistoryOptions, StateSnapshot } from '../agents/agent.ts'
import type { Access, Principal } from '../core/principal.ts'
import type { GraphStore } from '../storage/graph-store/index.ts'
import type { Answer, BeginAnswer, FindAnswer } from './answers/answer.ts'
import type { AnswerQuery, FoundAnswer } from './answers/find.ts'
import type { SnapshotQuery, ThreadSnapshot } from './answers/snapshot.ts'
import type { EventForm, EventItem, EventStream } from './log/decode.ts'
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
  WholeRun,
  WholeRunRequest,
} from './requests.ts'
import type { ThreadListQuery } from './threads/lists.ts'
import type { StateQuery } from './threads/state.ts'
import type { RunListQuery } from './threads/threads.ts'

/** Which threads of a principal to list. */
export interface ThreadList extends Omit<ThreadListQuery, keyof Access> {
  readonly principal?: Principal | null | undefined
}

/**
 * The only place where runs start, wait, stop and end. Every face of the server uses it, and server code can
 * use it without HTTP: see docs/engine.md. Rejected requests throw `RunError`, whose message says what to do.
 */
export interface AgentEngine {
  readonly agents: ReadonlyMap<string, Agent>
  /** A principal's long-term memory, which graphs get as `store`. */
  graphStore(principal?: Principal | null): GraphStore
  /**
   * Starts a run, and creates the thread if it does not exist. Resolves when the run is recorded, not when it
   * ends. Throws `invalid_argument` for unknown or invalid fields, like `respond` and `wait`.
   */
  start(request: RunRequest): Promise<RunReceipt>
  /** Starts a run that continues with the answers. Throws `no_such_interrupt`. */
  respond(request: Answers): Promise<RunReceipt>
  /**
   * Resolves when the run has ended, on any instance. Throws `no_such_run`, and `closing` if this engine
   * closes first.
   */
  wait(run: ThreadAddress & { readonly runId: string; readonly signal?: AbortSignal }): Promise<RunResult>
  /**
   * Starts a run and waits for its end, for tests and scripts: `{ status, messages, text, interrupts, … }`. A text as
   * `input` is what the user says. With the `answers` to `interrupts` in place of an input, it continues the thread.
   */
  run(request: WholeRunRequest): Promise<WholeRun>
  /**
   * Cancels a run, or an answer: all its runs and open questions. A waiting run is dropped. Resolves when the
   * request is recorded. Throws `no_such_run` and `no_such_task`.
   */
  cancel(
    what: ThreadAddress &
      ({ readonly runId: string; readonly action?: CancelAction } | { readonly answerId: string }),
  ): Promise<void>
  /**
   * Starts an answer, or continues one that asked a question, and returns its events until it ends or asks.
   * Leaving the loop does not stop the answer unless `cancelOnLeave` is set.
   */
  follow<Json extends boolean = false, Batches extends boolean = false>(
    request: BeginAnswer & EventForm<Json, Batches>,
  ): Promise<Answer<EventItem<Json, Batches>>>
  /**
   * Follows an answer that was already started. Undefined if the principal has no such answer, or the thread
   * no active one.
   */
  follow<Json extends boolean = false, Batches extends boolean = false>(
    request: FindAnswer & EventForm<Json, Batches>,
  ): Promise<Answer<EventItem<Json, Batches>> | undefined>
  /**
   * Finds an answer in one of the principal's threads, by its id or that of one of its runs. Default: the
   * active answer. A run that was not started as an answer is one under its own id, as long as its record is
   * kept.
   */
  findAnswer(answer: ThreadAddress & AnswerQuery): Promise<FoundAnswer | undefined>
  /**
   * A thread's state, open questions and active answer, with the sequence number at which they are valid: a
   * reader that continues from there misses and repeats nothing. Undefined if the principal has no such
   * thread.
   */
  snapshot(thread: ThreadAddress & SnapshotQuery): Promise<ThreadSnapshot | undefined>
  /**
   * The past and future events of a thread, on any instance. They are pulled: nothing is read ahead, and
   * leaving the loop ends the subscription.
   */
  events<Json extends boolean = false, Batches extends boolean = false>(
    request: ThreadEvents & EventForm<Json, Batches>,
  ): EventStream<Json, Batches>
  /** Undefined if the principal has no such thread. */
  findThread(thread: ThreadAddress): Promise<ThreadRecord | undefined>
  /** Creates an empty thread. Undefined if the id is taken, by this or another owner. */
  createThread(thread: NewThreadRequest): Promise<ThreadRecord | undefined>
  /** Merges keys into a thread's metadata, or sets its time to live or its title. Throws `no_such_thread`. */
  patchThread(thread: ThreadAddress & ThreadPatch): Promise<ThreadRecord>
  /**
   * Creates a thread with all checkpoints of another one, with the same checkpoint ids, but without its runs
   * and events. The source may be busy. Throws `no_such_thread`.
   */
  copyThread(thread: ThreadAddress & { readonly newThreadId: string }): Promise<ThreadRecord>
  /**
   * Deletes a thread with its run, log, records and checkpoints. False if the principal has no such thread.
   */
  deleteThread(thread: ThreadAddress): Promise<boolean>
  /** A principal's threads. Default: newest first. */
  listThreads(query?: ThreadList): AsyncIterable<ThreadRecord>
  /**
   * The number of a principal's threads: all, those with a status, or those with given values in their
   * metadata.
   */
  countThreads(query?: Pick<ThreadList, 'principal' | 'status' | 'where' | 'lookAt'>): Promise<number>
  /** The record of a run. Undefined if the principal has no such run, or if its record was not kept. */
  getRun(run: ThreadAddress & { readonly runId: string }): Promise<RunRecord | undefined>
  /**
   * The runs of a thread, newest first. Ended runs without `details` are kept for a day. Throws
   * `no_such_thread`.
   */
  listRuns(thread: ThreadAddress & RunListQuery): Promise<readonly RunRecord[]>
  /**
   * Deletes the record of a run. A run that has not ended is cancelled first. Its checkpoints stay, because
   * later ones build on them, and so do its events. False if the principal has no such run.
   */
  deleteRun(run: ThreadAddress & { readonly runId: string }): Promise<boolean>
  /** The state of a thread from `findThread`. Undefined before its first checkpoint. */
  readState(thread: ThreadRecord, query?: StateQuery): Promise<StateSnapshot | undefined>
  /** The snapshots of a thread, newest first. */
  readHistory(thread: ThreadRecord, query: StateQuery, options: HistoryOptions): AsyncIterable<StateSnapshot>
  /**
   * Writes a checkpoint from outside a run, and creates the thread if it does not exist. Throws `thread_busy`
   * during a run.
   */
  writeState(write: StateWriteRequest): Promise<StateReceipt>
  /**
   * The checkpoint from which a run can fork before a message, on any branch, to edit the message or have it
   * written again. Null if the first state already contains it: the run then begins with an empty state.
   * Undefined if no state contains it.
   */
  checkpointBefore(
    message: ThreadAddress & { readonly messageId: string },
  ): Promise<string | null | undefined>
  measure(): Promise<EngineMeasures>
  /**
   * Closes attached parts, drains, stops or hands over the runs of this process, and ends every subscription.
   */
  close(): Promise<void>
}

/** An engine before it is known who calls: it starts no runs. A face gets it, and its rows get an `AgentEngine`. */
export interface ServedEngine extends Omit<AgentEngine, 'start' | 'respond' | 'run' | 'follow'> {
  follow<Json extends boolean = false, Batches extends boolean = false>(
    request: FindAnswer & EventForm<Json, Batches>,
  ): Promise<Answer<EventItem<Json, Batches>> | undefined>
}
