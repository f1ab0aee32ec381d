import type { Agent, HistoryOptions, StateSnapshot } from '../agents/agent.ts'
import type { LogGap, LoggedEvent, ThreadEvent } from '../events/index.ts'
import type { GraphStore } from '../graph-store/index.ts'
import { checkOptions, STORAGE_PARTS } from '../options.ts'
import { type Access, accessOf, ownerOf, type Principal } from '../principal.ts'
import type { Store } from '../storage/store/store.ts'
import { type Attach, createAttach } from './attach.ts'
import { close } from './close.ts'
import type { RunContext } from './context.ts'
import { createContext } from './create-context.ts'
import { cancelRun } from './execution/cancel.ts'
import { startRun } from './execution/start.ts'
import type { Limits } from './limits.ts'
import { startMaintenance } from './maintenance.ts'
import { type EngineMeasures, measure } from './measure.ts'
import { cancelTask } from './mutations/cancel-task.ts'
import { copyThread } from './mutations/copy-thread.ts'
import { deleteRun } from './mutations/delete-run.ts'
import { deleteThread } from './mutations/delete-thread.ts'
import { keepLatest } from './mutations/keep-latest.ts'
import { patchState } from './mutations/patch-state.ts'
import { createThread, patchThread, type ThreadPatch } from './mutations/write-record.ts'
import { writeState } from './mutations/write-state.ts'
import type { ServerEvent } from './observe.ts'
import { type AgentEngineOptions, ENGINE_OPTIONS } from './options.ts'
import {
  type CommandKey,
  loadReceipt,
  type Receipt,
  type RunReceipt,
  type StateReceipt,
} from './records/idempotency.ts'
import type { CancelAction, RunRecord, TaskRecord, ThreadRecord } from './records/records.ts'
import type { TaskPage, TaskQuery } from './records/tasks.ts'
import { settingsFor } from './request-config.ts'
import type {
  Answers,
  NewThreadRequest,
  Owned,
  RunRequest,
  StateWriteRequest,
  ThreadAddress,
  ThreadEvents,
  ThreadSubscription,
} from './requests.ts'
import { type RunToEnd, readEventBatches, readEvents, readLogged, readToEnd } from './subscriptions/events.ts'
import { type RunResult, waitForResult } from './subscriptions/result.ts'
import { AS_BYTES, type Rendering, type Subscription, subscribe } from './subscriptions/subscribe.ts'
import { countThreads, listThreads, type ThreadListQuery } from './threads/lists.ts'
import { getRun, listOwnRuns, type RunListQuery } from './threads/runs.ts'
import { readHistory, readState, type StateQuery } from './threads/state.ts'
import { findTask, readTasks, waitForAnswer } from './threads/tasks.ts'
import { findThread, type OwnedRun, type OwnedThread, requireRun } from './threads/threads.ts'
import { type RunTree, readTree } from './threads/tree.ts'

export interface ThreadList extends Omit<ThreadListQuery, keyof Access> {
  readonly principal?: Principal | null | undefined
}

export interface TaskList extends Omit<TaskQuery, keyof Access> {
  readonly principal?: Principal | null | undefined
}

/**
 * The only place where runs start, wait, stop and end. Every face of the server uses it, and code on the server can use it
 * without HTTP: see docs/engine.md. Refusals are `RunError`s, whose messages say what to do.
 */
export interface AgentEngine {
  readonly agents: ReadonlyMap<string, Agent>
  /** Old names, each with the id of an agent. */
  readonly aliases: ReadonlyMap<string, string>
  /** The assistant of a thread that names none; undefined when there are several and none was chosen. */
  readonly defaultAgent: string | undefined
  readonly limits: Limits
  /** For what a face must remember, beside the collections of the engine. */
  readonly store: Store
  /** A principal's long-term memory, which graphs get as `store`. */
  graphStore(principal?: Principal | null): GraphStore
  /** True where that is a `BaseStore` of yours, so that it is the same for all principals. */
  readonly sharesGraphStore: boolean
  /** Starts a run, creating the thread when there is none. Settles when it is recorded, not when it ends. */
  start(request: RunRequest): Promise<RunReceipt>
  /** Starts a run that continues with the answers. Throws `no_such_interrupt`. */
  respond(request: Answers): Promise<RunReceipt>
  /** Settles when the run has ended, on any instance. Throws `no_such_run`, and `closing` when this engine closes first. */
  wait(run: ThreadAddress & { readonly runId: string; readonly signal?: AbortSignal }): Promise<RunResult>
  /** Asks a run to stop; one that waits is dropped. Settles when that is recorded. Throws `no_such_run`. */
  cancel(run: ThreadAddress & { readonly runId: string; readonly action?: CancelAction }): Promise<void>
  /**
   * The events of a thread, past and future, on any instance. They are pulled: nothing is read ahead, and leaving the loop ends
   * the subscription.
   */
  events(request: ThreadEvents): AsyncGenerator<ThreadEvent | LogGap, void, undefined>
  /** The same, as many at a time as there are, for a face that sends those together. A batch may be empty. */
  eventBatches(request: ThreadEvents): AsyncGenerator<readonly (ThreadEvent | LogGap)[], void, undefined>
  /** The same with their data as JSON, which is parsed at each read of `data`, for a face that passes most of them on. */
  loggedBatches(request: ThreadEvents): AsyncGenerator<readonly (LoggedEvent | LogGap)[], void, undefined>
  /**
   * Waits for the end of a run, takes those of its events that are asked for, and gives its record: undefined where it was undone or
   * deleted.
   */
  readToEnd(request: RunToEnd): Promise<RunRecord | undefined>
  /** The last sequence number of a thread's log, from which a reader can continue. 0 where the principal has no such thread. */
  head(thread: ThreadAddress): Promise<number>
  /** The events as SSE frames, whose bytes all subscribers share. Past events that a new client must not see are left out. */
  subscribe(request: ThreadSubscription): Subscription
  /** The same events in another encoding than SSE frames. */
  subscribeAs<Chunk>(request: ThreadSubscription, rendering: Rendering<Chunk>): Subscription<Chunk>
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
  /**
   * Shortens threads to their newest state, and gives how many of them their principals have. Of each namespace the newest checkpoint
   * stays, with what it is read from and with the interrupts that wait; records, runs and events stay. Throws before any is changed:
   * `not_supported` where the checkpointer has no `keepLatest`, `thread_busy` where a run is in progress or waits.
   */
  keepLatest(threads: readonly ThreadAddress[]): Promise<number>
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
  /** Deletes a thread with its run, log, records and checkpoints. False where the principal has no such thread. */
  deleteThread(thread: ThreadAddress): Promise<boolean>
  /** The state of a thread that `findThread` gave, or undefined before its first checkpoint. */
  readState(thread: ThreadRecord, query?: StateQuery): Promise<StateSnapshot | undefined>
  /** Snapshots newest first. */
  readHistory(thread: ThreadRecord, query: StateQuery, options: HistoryOptions): AsyncIterable<StateSnapshot>
  /** Writes a checkpoint from outside a run, creating the thread when there is none. Throws `thread_busy` during a run. */
  writeState(write: StateWriteRequest): Promise<StateReceipt>
  /** Merges keys into the metadata of the newest checkpoint. Throws `thread_busy` during a run. */
  patchState(thread: ThreadAddress & { readonly metadata: Readonly<Record<string, unknown>> }): Promise<void>
  /** The tree of a run's agents, built from its lifecycle events. Undefined when the log has none of them. */
  readTree(thread: ThreadRecord, runId: string): Promise<RunTree | undefined>
  /**
   * A task of one of the principal's threads, by its id or that of one of its runs. A run that was not started as a task is one of
   * its own, for as long as its record is kept.
   */
  findTask(task: ThreadAddress & { readonly taskId: string }): Promise<TaskRecord | undefined>
  /**
   * Cancels a task, its runs and the questions that it has asked, and gives it as it was before. Settles when that is recorded. One
   * that has ended is left alone. Throws `no_such_task`.
   */
  cancelTask(task: ThreadAddress & { readonly taskId: string }): Promise<TaskRecord>
  /**
   * Settles once a task does not wait for input any more, on any instance, and gives it; undefined where it is gone. Throws
   * `closing` when this engine closes first.
   */
  waitForAnswer(
    task: ThreadAddress & { readonly taskId: string; readonly signal?: AbortSignal | undefined },
  ): Promise<TaskRecord | undefined>
  /** A principal's tasks of an assistant, the last changed first. */
  listTasks(query: TaskList): Promise<TaskPage>
  /** The recorded result of an earlier command. Does not check that the thread is the caller's. Throws `key_reused`. */
  loadReceipt(threadId: string, command: CommandKey | undefined): Promise<Receipt | null>
  measure(): Promise<EngineMeasures>
  /**
   * Settles when this process executes no run of the thread any more; undefined where it executes none. For hosts that stop a
   * process which owes no response, such as Workers: give it to their `waitUntil`, as the routes do.
   */
  working(threadId: string): Promise<void> | undefined
  /**
   * What faces share over this engine, such as its runner of jobs. It is made by the first call with this function,
   * and closed before the engine is.
   */
  readonly attach: Attach
  /** Passes an event to the operator's observer, for what only a face sees, such as a refused request. Never throws. */
  readonly observe: (event: ServerEvent) => void
  /** Closes what is attached, drains, stops or hands over the runs of this process, and ends every subscription. */
  close(): Promise<void>
}

export function createAgentEngine(options: AgentEngineOptions): AgentEngine {
  checkOptions('createAgentEngine', options, ENGINE_OPTIONS, STORAGE_PARTS)
  return openEngine(options)
}

/** The same for options that are checked, and may have others beside them. */
export function openEngine(options: AgentEngineOptions): AgentEngine {
  const context = createContext(options)
  const { agents, aliases, limits, store, graphStores, observe } = context
  const maintain = startMaintenance(context)
  const attached = createAttach(context)

  /** Binds a function that needs to know what its caller may reach, for callers who name a principal. */
  const as =
    <Request extends Access, Result>(method: (context: RunContext, request: Request) => Result) =>
    (
      request: Omit<Request, keyof Access> & { readonly principal?: Principal | null | undefined },
    ): Result => {
      maintain()
      return method(context, { ...request, ...accessOf(request.principal) } as unknown as Request)
    }

  const startAs = as(startRun)
  const subscribeWith = <Chunk>(request: ThreadSubscription, rendering: Rendering<Chunk>) =>
    as((_, asked: Owned<ThreadSubscription>) => subscribe(context, asked, rendering))(request)
  return {
    agents,
    aliases,
    get defaultAgent() {
      return context.defaultAgent
    },
    limits,
    store,
    graphStore: (principal) => {
      maintain()
      return graphStores.of(ownerOf(principal))
    },
    sharesGraphStore: graphStores.isShared,
    start: ({ input = null, ...request }) =>
      startAs({ ...request, ...settingsFor(request), start: { kind: 'input', value: input } }),
    respond: ({ answers, update, goto, ...request }) =>
      startAs({ ...request, ...settingsFor(request), start: { kind: 'resume', answers, update, goto } }),
    wait: as(waitForResult),
    cancel: as(cancelOwnRun),
    events: as(readEvents),
    eventBatches: as(readEventBatches),
    loggedBatches: as(readLogged),
    readToEnd: as(readToEnd),
    head: as(headOf),
    subscribe: (request) => subscribeWith(request, AS_BYTES),
    subscribeAs: subscribeWith,
    readState: (thread, query) => readState(context, thread, query),
    readHistory: (thread, query, history) => readHistory(context, thread, query, history),
    writeState: as(writeState),
    patchState: as(patchState),
    findThread: as(findThread),
    createThread: as(createThread),
    patchThread: as(patchThread),
    copyThread: as(copyThread),
    keepLatest(threads) {
      maintain()
      return keepLatest(
        context,
        threads.map(({ threadId, principal }) => ({ threadId, ...accessOf(principal) })),
      )
    },
    listThreads: (query = {}) => as(listThreads)(query),
    countThreads: (query = {}) => as(countThreads)(query),
    deleteThread: as(deleteThread),
    getRun: as(getRun),
    listRuns: as(listOwnRuns),
    deleteRun: as(deleteRun),
    readTree: ({ threadId }, runId) => readTree(context, threadId, runId),
    findTask: as(findTask),
    cancelTask: as(cancelTask),
    waitForAnswer: as(waitForAnswer),
    listTasks: as(readTasks),
    loadReceipt: async (threadId, command) => (await loadReceipt(store, threadId, command)).receipt,
    measure: () => measure(context),
    working: (threadId) => context.executing.get(threadId),
    attach: attached.attach,
    observe,
    async close() {
      // They use the engine.
      await attached.close()
      await close(context)
    },
  }
}

async function cancelOwnRun(
  context: RunContext,
  { action = 'interrupt', ...run }: OwnedRun & { readonly action?: CancelAction },
): Promise<void> {
  await requireRun(context, run)
  await cancelRun(context, run.threadId, run.runId, action)
}

const headOf = async (context: RunContext, thread: OwnedThread): Promise<number> =>
  (await findThread(context, thread)) ? (await context.store.inspect(thread.threadId)).head : 0
