import type { Agent, HistoryOptions, PendingInterrupt, StateSnapshot } from '../agents/agent.ts'
import {
  type GraphStore,
  type GraphStoreLike,
  type GraphStoreOptions,
  graphStoresOf,
} from '../graph-store/index.ts'
import { uuid7 } from '../ids.ts'
import { checkOptions, type OptionTable, STORAGE_PARTS } from '../options.ts'
import { type Access, accessOf, ownerOf, type Principal, userOf } from '../principal.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import { memoryCheckpointer } from '../storage/memory/checkpointer.ts'
import { memoryStore } from '../storage/memory/store.ts'
import type { Store } from '../storage/store/store.ts'
import { sleep, within } from '../time.ts'
import { observedStore } from './availability.ts'
import { closeReason, type ErrorReporter, type RunContext } from './context.ts'
import { deadlineOf } from './deadlines.ts'
import { RunError } from './errors.ts'
import { cancelRun } from './execution/cancel.ts'
import { startDue, waitForEnd } from './execution/recover.ts'
import { startRun } from './execution/start.ts'
import { type ErrorMessage, errorMessageOf } from './failures.ts'
import { createPlaces, type Limits, limitsOf, RUN_LIMITS, type RunLimits } from './limits.ts'
import type { LogGap, LoggedEvent, ThreadEvent } from './log/decode.ts'
import { createLogWatchers } from './log/watchers.ts'
import { startMaintenance } from './maintenance.ts'
import { cancelTask } from './mutations/cancel-task.ts'
import { copyThread } from './mutations/copy-thread.ts'
import { deleteRun } from './mutations/delete-run.ts'
import { deleteThread } from './mutations/delete-thread.ts'
import { keepLatest } from './mutations/keep-latest.ts'
import { patchState } from './mutations/patch-state.ts'
import { createThread, patchThread, type ThreadPatch } from './mutations/write-record.ts'
import { writeState } from './mutations/write-state.ts'
import { createObserver, type Observe, type ServerEvent } from './observe.ts'
import {
  type CommandKey,
  loadReceipt,
  type Receipt,
  type RunReceipt,
  type StateReceipt,
} from './records/idempotency.ts'
import {
  type CancelAction,
  loadRun,
  loadThread,
  type RunRecord,
  readThread,
  type StoredConfig,
  type TaskRecord,
  type ThreadRecord,
} from './records/records.ts'
import type { TaskPage, TaskQuery } from './records/tasks.ts'
import { createWakeUps } from './records/wake-ups.ts'
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
import { AS_BYTES, type Rendering, type Subscription, subscribe } from './subscriptions/subscribe.ts'
import { countThreads, listThreads, type ThreadListQuery } from './threads/lists.ts'
import { getRun, listOwnRuns, type RunListQuery } from './threads/runs.ts'
import { warnEphemeralStore } from './threads/savers.ts'
import { readHistory, readState, type StateQuery } from './threads/state.ts'
import { findTask, readTasks, waitForAnswer } from './threads/tasks.ts'
import { findThread, type OwnedRun, type OwnedThread, requireRun } from './threads/threads.ts'
import { type RunTree, readTree } from './threads/tree.ts'

export interface AgentEngineOptions {
  /**
   * The agents, by assistant id. A map may change while the engine runs: runs take what it has when they start, and those under way
   * keep theirs.
   */
  readonly agents: Readonly<Record<string, Agent>> | ReadonlyMap<string, Agent>
  /** Old names of agents, each with the id that it stands for now: threads of the old name go on with that agent. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** The assistant of a thread that names none. Default: the only agent, if there is only one. */
  readonly defaultAgent?: string | undefined
  /** Keeps threads, runs and events. Default: memory. */
  readonly store?: Store | undefined
  /** Keeps the agents' state. Default: memory. Agents that bring their own saver keep it. */
  readonly checkpointer?: Checkpointer | undefined
  /**
   * The long-term memory that graphs get as `store`: how `store` keeps it, such as `{ embed }` for search by similarity, or a
   * LangGraph `BaseStore` of yours, which all owners share. Default: kept in `store`, for each owner apart. See docs/memory.md.
   */
  readonly graphStore?: GraphStoreLike | GraphStoreOptions | undefined
  /**
   * How long an instance that stopped responding keeps its runs, in milliseconds. Other instances of a shared store take them
   * over at most a third of this time later. Default: 15,000. Has no effect on a store of one process.
   */
  readonly leaseTtlMs?: number | undefined
  /** How long the engine waits for a cancelled agent to stop, in milliseconds. Default: 1,000. */
  readonly cancelGraceMs?: number | undefined
  /** How long runs may continue after `close()`, in milliseconds, before they are stopped or handed over. Default: 0. */
  readonly drainMs?: number | undefined
  /** How often expired records are deleted, in milliseconds. Default: 60,000. */
  readonly sweepMs?: number | undefined
  /**
   * Called with every failure of a run, and with failures that no caller would otherwise see. What it throws or rejects with is
   * ignored. Default: `console.error`.
   */
  readonly onError?: ErrorReporter | undefined
  /**
   * What clients are told of an error of an agent. `true`: its text. `false`: a sentence with the error id that `onError` gets, because the
   * message of an error may hold whatever the agent knows, such as a connection string. A function makes the text: it is given what was
   * thrown, or only the text where no more is known. At most 2,000 characters are sent, and errors of the store and the saver are never
   * shown. Default: `true` where `NODE_ENV` is `development`, which is said once at the start, else `false`.
   */
  readonly errorMessage?: ErrorMessage | undefined
  /** Bounds of what runs may use. See docs/limits.md. */
  readonly limits?: RunLimits | undefined
  /** Called with what happens to runs, threads and the store. See docs/operating.md. */
  readonly observe?: Observe | undefined
}

export const ENGINE_OPTIONS: OptionTable<AgentEngineOptions> = {
  agents: 'any',
  aliases: { '*': 'string' },
  defaultAgent: 'string',
  store: 'store',
  checkpointer: 'saver',
  graphStore: 'object',
  leaseTtlMs: 'number',
  cancelGraceMs: 'number',
  drainMs: 'number',
  sweepMs: 'number',
  onError: 'function',
  errorMessage: ['boolean', 'function'],
  limits: RUN_LIMITS,
  observe: 'function',
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

export interface ThreadList extends Omit<ThreadListQuery, keyof Access> {
  readonly principal?: Principal | null | undefined
}

export interface TaskList extends Omit<TaskQuery, keyof Access> {
  readonly principal?: Principal | null | undefined
}

/** The current load of an engine. */
export interface EngineMeasures {
  /** Runs that execute in this process. */
  readonly running: number
  /** Runs that wait, in all processes of the store; counted to 1,000 threads. */
  readonly queued: number
  /** Subscribers of this process. */
  readonly subscribers: number
  /** How many events the slowest of them is behind the newest one that this process has seen of its thread. */
  readonly lag: number
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
  /** Passes an event to the operator's observer, for what only a face sees, such as a refused request. Never throws. */
  readonly observe: (event: ServerEvent) => void
  /** Drains, stops or hands over the runs of this process, and ends every subscription. */
  close(): Promise<void>
}

const LEASE_TTL_MS = 15_000
/** A lease in a store of one process never has to expire. */
const NO_EXPIRY_MS = 100 * 365 * 24 * 60 * 60 * 1_000

export function createAgentEngine(options: AgentEngineOptions): AgentEngine {
  checkOptions('createAgentEngine', options, ENGINE_OPTIONS, STORAGE_PARTS)
  return openEngine(options)
}

/** The same for options that are checked, and may have others beside them. */
export function openEngine(options: AgentEngineOptions): AgentEngine {
  const context = createContext(options)
  const { agents, aliases, limits, store, graphStores, observe } = context
  const maintain = startMaintenance(context)

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
    respond: ({ answers, update, goto, ...request }) => {
      const more = { ...(update != null && { update }), ...(goto != null && { goto }) }
      return startAs({ ...request, ...settingsFor(request), start: { kind: 'resume', answers, ...more } })
    },
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
    observe,
    close: () => close(context),
  }
}

function createContext(options: AgentEngineOptions): RunContext {
  const agents = agentsOf(options?.agents)
  assertDefaultAgent(agents, options.defaultAgent)
  const aliases = aliasesOf(agents, options.aliases)
  const unobserved = options.store ?? memoryStore()
  const checkpointer = options.checkpointer ?? memoryCheckpointer()
  const limits = limitsOf(options.limits)
  warnEphemeralStore(unobserved, { agents, checkpointer })
  const report = reporterOf(options.onError)
  const observe = createObserver(options.observe, (error) => report(error, {}))
  const { shared } = unobserved.capabilities
  const store = shared && options.observe ? observedStore(unobserved, observe) : unobserved
  const leaseTtlMs = options.leaseTtlMs ?? LEASE_TTL_MS
  // Made when a request needs them: Workers forbid both while a module is loaded.
  const instance = lazy(uuid7)
  const closing = lazy(() => new AbortController())
  const context: RunContext = {
    store,
    checkpointer,
    graphStores: graphStoresOf(store, options.graphStore),
    agents,
    aliases,
    get defaultAgent() {
      const [first] = agents.keys()
      return options.defaultAgent ?? (agents.size === 1 ? first : undefined)
    },
    get instance() {
      return instance()
    },
    leaseTtlMs: shared ? leaseTtlMs : NO_EXPIRY_MS,
    retryForMs: shared ? leaseTtlMs : 0,
    cancelGraceMs: options.cancelGraceMs ?? 1_000,
    drainMs: options.drainMs ?? 0,
    limits,
    places: createPlaces(limits),
    watchers: createLogWatchers(store),
    sweepMs: options.sweepMs ?? 60_000,
    wakeUps: createWakeUps((threadId) => void startDue(context, threadId)),
    active: new Map(),
    executing: new Map(),
    pending: new Set(),
    report,
    errorMessage: errorMessageOf(options.errorMessage),
    observe,
    get closing() {
      return closing()
    },
  }
  return context
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Gives every error an id. A failing `onError` is ignored, because there is nowhere to report it. */
function reporterOf(onError: ErrorReporter = logError): RunContext['report'] {
  return (error, origin) => {
    const id = crypto.randomUUID()
    const call = async () => onError(error, { ...origin, id })
    call().catch(() => {})
    return id
  }
}

const logError: ErrorReporter = (error, { id }) => console.error(`agentwire: error ${id}`, error)

function agentsOf(given: AgentEngineOptions['agents'] | undefined): ReadonlyMap<string, Agent> {
  if (!globalThis.crypto) throw new RunError('not_supported', 'agentwire needs Node 20.20 or newer.')
  const agents = given instanceof Map ? given : new Map<string, Agent>(Object.entries(given ?? {}))
  if (agents.size === 0) throw new RunError('invalid_argument', 'Give the server at least one agent.')
  for (const [name, agent] of agents) {
    if (typeof agent?.getHistory === 'function') continue
    const message = `agents.${name} is no agent (${typeof agent}): give it langgraph(graph) or defineAgent({ run }).`
    throw new RunError('invalid_argument', message)
  }
  return agents
}

function aliasesOf(
  agents: ReadonlyMap<string, Agent>,
  given: AgentEngineOptions['aliases'] = {},
): ReadonlyMap<string, string> {
  for (const [name, id] of Object.entries(given)) {
    if (agents.has(id) && !agents.has(name)) continue
    const message = `aliases.${name}: ${agents.has(name) ? 'this is an agent itself' : `there is no agent ${JSON.stringify(id)}`}.`
    throw new RunError('invalid_argument', message)
  }
  return new Map(Object.entries(given))
}

function assertDefaultAgent(agents: ReadonlyMap<string, Agent>, named: string | undefined): void {
  if (named === undefined || agents.has(named)) return
  throw new RunError('invalid_argument', `defaultAgent ${JSON.stringify(named)} is not one of the agents.`)
}

/** The config of a run with the principal that asks for it, under the names that LangGraph's own servers use. */
function configOf({ principal, config }: Pick<RunRequest, 'principal' | 'config'>): StoredConfig | undefined {
  if (!principal) return config
  const user = userOf(principal)
  const caller = {
    langgraph_auth_user: user,
    langgraph_auth_user_id: principal.id,
    ...(Array.isArray(user.permissions) && { langgraph_auth_permissions: user.permissions }),
  }
  return { ...config, configurable: { ...config?.configurable, ...caller } }
}

/** The same where the config depends on the thread. */
function settingsFor({
  principal,
  config,
  settingsOf,
}: Pick<RunRequest, 'principal' | 'config' | 'settingsOf'>) {
  if (!settingsOf) return { config: configOf({ principal, config }) }
  return {
    async settingsOf(thread: ThreadRecord) {
      const settings = await settingsOf(thread)
      return { ...settings, config: configOf({ principal, config: settings.config }) }
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

async function waitForResult(
  context: RunContext,
  { signal, ...asked }: OwnedRun & { readonly signal?: AbortSignal },
): Promise<RunResult> {
  const { store } = context
  const { threadId, runId } = asked
  await requireRun(context, asked)
  await waitForEnd(context, threadId, runId, signal)
  const [run, thread] = await Promise.all([loadRun(store, threadId, runId), loadThread(store, threadId)])
  // The run's thread was deleted meanwhile, and the run was stopped for that.
  const { status, error, errorName } = run?.record ?? { status: 'interrupted', error: null }
  const interrupts = (thread?.record.interrupts ?? []).map(({ id, value }) => ({ id, value }))
  const failure = { error, ...(errorName !== undefined && { errorName }) }
  return { runId, status: status as RunResult['status'], ...failure, interrupts }
}

const headOf = async (context: RunContext, thread: OwnedThread): Promise<number> =>
  (await findThread(context, thread)) ? (await context.store.inspect(thread.threadId)).head : 0

async function measure({ store, active, watchers }: RunContext): Promise<EngineMeasures> {
  const waiting = await store.list('threads', { orderBy: 'queued', limit: 1_000 })
  const threads = waiting.docs.map(readThread)
  const queued = threads.reduce((count, { queue }) => count + queue.length, 0)
  return { running: active.size, queued, ...watchers.measure() }
}

/**
 * Lets runs finish for `drainMs`, then stops them: a run that another process can continue is handed over, any other one ends
 * as interrupted. At last it ends every subscription with an error, so that clients reconnect elsewhere. A store or a saver that
 * does not answer holds it up for a while only: the leases of such runs expire, and other processes find them.
 */
async function close(context: RunContext): Promise<void> {
  const { active, closing, pending, drainMs, cancelGraceMs, wakeUps } = context
  closing.abort()
  wakeUps.close()
  if (drainMs > 0 && active.size > 0) {
    await within(drainMs, Promise.all([...active.values()].map((run) => run.done)))
  }
  for (const run of active.values()) run.stop(closeReason(context, run.assistantId))
  // An agent gets its time to stop, and the end of its run the time of a call to the saver and of one to the store.
  const end = performance.now() + cancelGraceMs + 2 * deadlineOf(context)
  do {
    await within(end - performance.now(), Promise.allSettled(pending))
    // A claim that was written just now is executed, and stopped at once, in this turn of the event loop.
    await sleep(0)
  } while (pending.size > 0 && performance.now() < end)
  if (pending.size > 0) {
    context.report(new Error('The server closed while the store or a saver did not answer.'), {})
  }
  context.watchers.close(new RunError('closing', 'The server is shutting down.'))
}
