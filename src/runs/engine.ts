import type { Agent, HistoryOptions, PendingInterrupt, StateSnapshot, StateUpdate } from '../agents/agent.ts'
import { uuid7 } from '../ids.ts'
import { ownerOf, type Principal } from '../principal.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import { memoryCheckpointer } from '../storage/memory/checkpointer.ts'
import { memoryStore } from '../storage/memory/store.ts'
import type { Store } from '../storage/store/store.ts'
import { within } from '../time.ts'
import { observedStore } from './availability.ts'
import type { ErrorReporter, RunContext } from './context.ts'
import { noSuchRun, RunError } from './errors.ts'
import { cancelRun } from './execution/cancel.ts'
import { startMaintenance } from './execution/maintenance.ts'
import { waitForEnd } from './execution/recover.ts'
import { startRun } from './execution/start.ts'
import type { LogGap, ThreadEvent } from './log/decode.ts'
import type { EventFilter } from './log/filter.ts'
import { createLogWatchers } from './log/watchers.ts'
import { createObserver, type Observe, type ServerEvent } from './observe.ts'
import {
  type CommandKey,
  loadReceipt,
  type Receipt,
  type Started,
  type Written,
} from './records/idempotency.ts'
import {
  type CancelAction,
  loadRun,
  loadThread,
  type MultitaskStrategy,
  type StoredConfig,
  type ThreadRecord,
} from './records/records.ts'
import { readEvents } from './subscriptions/events.ts'
import { type Subscription, subscribe } from './subscriptions/subscribe.ts'
import { deleteThread } from './threads/delete-thread.ts'
import { readHistory, readState, type StateQuery } from './threads/state.ts'
import {
  createThread,
  findThread,
  listThreads,
  patchThread,
  type ThreadListQuery,
} from './threads/threads.ts'
import { type RunTree, readTree } from './threads/tree.ts'
import { writeState } from './threads/write-state.ts'

export interface AgentEngineOptions {
  /** The agents, by assistant id. */
  readonly agents: Readonly<Record<string, Agent>>
  /** The assistant of a thread that names none. Default: the only agent, if there is only one. */
  readonly defaultAgent?: string | undefined
  /** Keeps threads, runs and events. Default: memory. */
  readonly store?: Store | undefined
  /** Keeps the agents' state. Default: memory. Agents that bring their own saver keep it. */
  readonly checkpointer?: Checkpointer | undefined
  /**
   * How long a silent instance keeps its runs, in milliseconds, where others share its store: they take them over by a third of it
   * later at the latest. Default: 15,000. Without effect on a store of one process.
   */
  readonly leaseTtlMs?: number | undefined
  /** How long a cancelled agent may take to stop before it is left behind, in milliseconds. Default: 1,000. */
  readonly cancelGraceMs?: number | undefined
  /** How long runs may go on after `close()`, in milliseconds, before they are stopped or handed over. Default: 0. */
  readonly drainMs?: number | undefined
  /** How often what has expired is dropped, in milliseconds. Default: 60,000. */
  readonly sweepMs?: number | undefined
  /** Told of failures that no caller can be told of. Default: `console.error`. */
  readonly onError?: ErrorReporter | undefined
  /** Told of what happens to runs, threads and the store. See docs/operating.md. */
  readonly observe?: Observe | undefined
}

/** A thread, and on whose behalf it is addressed. */
export interface ThreadAddress {
  readonly threadId: string
  /** What is done is done as this principal, with what it owns. Default null: that of a server without authentication. */
  readonly principal?: Principal | null | undefined
}

/** A run to start. */
export interface RunRequest extends ThreadAddress {
  /** Default: the thread's, else the engine's default. */
  readonly assistantId?: string | undefined
  /** The agent's input. Null or absent: go on from the checkpoint. On an interrupted thread it is the answer. */
  readonly input?: unknown
  /** Fork from this checkpoint. */
  readonly checkpointId?: string | undefined
  /** Refuse to make the thread. Default false. */
  readonly mustExist?: boolean | undefined
  /** What to do while another run holds the thread. Default: `enqueue`. */
  readonly multitaskStrategy?: MultitaskStrategy | undefined
  readonly config?: StoredConfig | undefined
  /** The thread's title, where it has none yet. */
  readonly title?: string | undefined
  /** Given again, it starts no second run. */
  readonly command?: CommandKey | undefined
  /** The W3C `traceparent` of what asked for the run. */
  readonly traceparent?: string | null | undefined
  /** Throws for an assistant that the caller may not run. Asked where the request names none. */
  readonly permit?: ((assistantId: string) => Promise<void>) | undefined
}

/** Answers to interrupts of a thread. */
export interface Answers
  extends Omit<
    RunRequest,
    'input' | 'checkpointId' | 'mustExist' | 'multitaskStrategy' | 'assistantId' | 'title'
  > {
  /** By interrupt id. What is not answered stays open. */
  readonly answers: Readonly<Record<string, unknown>>
  /** A state update to write with them. */
  readonly update?: unknown
  /** LangGraph: a node name, `{ node, input }`, or an array of both. */
  readonly goto?: unknown
}

/** What a run came to. */
export interface RunResult {
  readonly runId: string
  readonly status: 'success' | 'error' | 'interrupted'
  /** Why it failed. */
  readonly error: string | null
  /** What the thread asks now. */
  readonly interrupts: readonly PendingInterrupt[]
}

export interface ThreadEvents extends ThreadAddress {
  /** Only this run's events, and no more after its end. Default: those of all runs, without an end. */
  readonly runId?: string | undefined
  /** Only events with a higher sequence number. Default 0: all that the log still has. */
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
  /** Only events after this one, when the log still has it; else everything. Goes before `since`. */
  readonly lastEventId?: string | undefined
}

export interface NewThreadRequest extends ThreadAddress {
  readonly assistantId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Given again, it gives the thread that it has made. */
  readonly command?: CommandKey | undefined
}

export interface StateWriteRequest extends ThreadAddress, StateUpdate {
  /** Write on top of this checkpoint: a fork. Default: the thread's head. */
  readonly checkpointId?: string | undefined
  readonly checkpointNs?: string | undefined
  readonly title?: string | undefined
  /** Given again, it writes no second checkpoint. */
  readonly command?: CommandKey | undefined
}

export interface ThreadList extends Omit<ThreadListQuery, 'owner'> {
  readonly principal?: Principal | null | undefined
}

/** How an engine stands now. */
export interface EngineMeasures {
  /** Runs that execute in this process. */
  readonly running: number
  /** Runs that wait, in all processes of the store; counted to 1,000 threads. */
  readonly queued: number
  /** Subscribers of this process. */
  readonly subscribers: number
  /** The most events that one of them is behind the newest that this process has seen of its thread. */
  readonly lag: number
}

/**
 * The only place where runs start, wait, stop and end. Every face of the server stands on it, and code on the server uses it
 * without HTTP: see docs/engine.md. Refusals are `RunError`s, which say what to do.
 */
export interface AgentEngine {
  readonly agents: ReadonlyMap<string, Agent>
  /** The assistant of a thread that names none; undefined when there are several and none was chosen. */
  readonly defaultAgent: string | undefined
  /** Starts a run, making the thread when there is none. Settles when it is recorded, not when it ends. */
  start(request: RunRequest): Promise<Started>
  /** Starts the run that goes on with answers. Throws `no_such_interrupt`. */
  respond(request: Answers): Promise<Started>
  /** Settles when the run has ended, on whatever instance. Throws `no_such_run`, and `closing` when this engine closes first. */
  wait(run: ThreadAddress & { readonly runId: string; readonly signal?: AbortSignal }): Promise<RunResult>
  /** Asks a run to stop; one that waits is dropped. Settles when that is recorded. Throws `no_such_run`. */
  cancel(run: ThreadAddress & { readonly runId: string; readonly action?: CancelAction }): Promise<void>
  /**
   * The events of a thread, those that were and those to come, on whatever instance. They are pulled: nothing is read ahead, and
   * leaving the loop ends the subscription.
   */
  events(request: ThreadEvents): AsyncGenerator<ThreadEvent | LogGap, void, undefined>
  /** The last sequence number of a thread's log, to read on from. 0 where the principal has no such thread. */
  head(thread: ThreadAddress): Promise<number>
  /** The events as SSE frames, whose bytes all subscribers share. What a new client must not see of the past is left out. */
  subscribe(request: ThreadSubscription): Subscription
  /** Undefined where the principal has no such thread. */
  findThread(thread: ThreadAddress): Promise<ThreadRecord | undefined>
  /** Makes an empty thread. Undefined when the id is taken, whoever has it. */
  createThread(thread: NewThreadRequest): Promise<ThreadRecord | undefined>
  /** Merges keys into a thread's metadata. Throws `no_such_thread`. */
  patchThread(
    thread: ThreadAddress & { readonly metadata: Readonly<Record<string, unknown>> },
  ): Promise<ThreadRecord>
  /** A principal's threads, newest first unless asked otherwise. */
  listThreads(query?: ThreadList): AsyncIterable<ThreadRecord>
  /** Run, log, records and checkpoints. False where the principal has no such thread. */
  deleteThread(thread: ThreadAddress): Promise<boolean>
  /** The state of a thread that `findThread` gave, or undefined before its first checkpoint. */
  readState(thread: ThreadRecord, query?: StateQuery): Promise<StateSnapshot | undefined>
  /** Snapshots newest first. */
  readHistory(thread: ThreadRecord, query: StateQuery, options: HistoryOptions): AsyncIterable<StateSnapshot>
  /** Writes a checkpoint from outside a run, making the thread when there is none. Throws `thread_busy` beside a run. */
  writeState(write: StateWriteRequest): Promise<Written>
  /** A run's agents, as its lifecycle events told them. Undefined when the log knows nothing of the run. */
  readTree(thread: ThreadRecord, runId: string): Promise<RunTree | undefined>
  /** What a command that was sent before came to. The thread must be the caller's. Throws `key_reused`. */
  loadReceipt(threadId: string, command: CommandKey | undefined): Promise<Receipt | null>
  measure(): Promise<EngineMeasures>
  /** Tells those who operate the server: for faces, of what the engine does not see. Never throws. */
  readonly observe: (event: ServerEvent) => void
  /** Drains, stops or hands over the runs of this process, and ends every subscription. */
  close(): Promise<void>
}

const LEASE_TTL_MS = 15_000
/** A lease that nobody else can see never has to expire. */
const NO_EXPIRY_MS = 100 * 365 * 24 * 60 * 60 * 1_000

export function createAgentEngine(options: AgentEngineOptions): AgentEngine {
  const context = createContext(options)
  const { agents, defaultAgent, store } = context
  startMaintenance(context)
  return {
    agents,
    defaultAgent,
    start: ({ input = null, ...request }) =>
      startRun(
        context,
        asOwner({ ...request, ...authored(request), start: { kind: 'input', value: input } as const }),
      ),
    respond: ({ answers, update, goto, ...request }) => {
      const start = {
        kind: 'resume',
        answers,
        ...(update != null && { update }),
        ...(goto != null && { goto }),
      } as const
      return startRun(context, asOwner({ ...request, ...authored(request), start }))
    },
    wait: (run) => waitForResult(context, asOwner(run)),
    cancel: async ({ threadId, principal, runId, action = 'interrupt' }) => {
      if (!(await findThread(context, threadId, ownerOf(principal)))) throw noSuchRun(runId)
      await cancelRun(context, threadId, runId, action)
    },
    events: (request) => readEvents(context, asOwner(request)),
    head: async ({ threadId, principal }) =>
      (await findThread(context, threadId, ownerOf(principal))) ? (await store.inspect(threadId)).head : 0,
    subscribe: (request) => subscribe(context, asOwner(request)),
    readState: (thread, query) => readState(context, thread, query),
    readHistory: (thread, query, history) => readHistory(context, thread, query, history),
    writeState: (write) => writeState(context, asOwner(write)),
    findThread: ({ threadId, principal }) => findThread(context, threadId, ownerOf(principal)),
    createThread: (thread) => createThread(context, asOwner(thread)),
    patchThread: ({ threadId, principal, metadata }) =>
      patchThread(context, threadId, ownerOf(principal), metadata),
    listThreads: (query = {}) => listThreads(context, asOwner(query)),
    deleteThread: ({ threadId, principal }) => deleteThread(context, threadId, ownerOf(principal)),
    readTree: ({ threadId }, runId) => readTree(context, threadId, runId),
    loadReceipt: async (threadId, command) => (await loadReceipt(store, threadId, command)).receipt,
    measure: () => measure(context),
    observe: context.observe,
    close: () => close(context),
  }
}

function createContext(options: AgentEngineOptions): RunContext {
  const agents = new Map(Object.entries(options.agents))
  const defaultAgent = defaultAgentOf(agents, options.defaultAgent)
  const given = options.store ?? memoryStore()
  const report: ErrorReporter =
    options.onError ?? ((error) => console.error('agentwire: a run could not be recorded', error))
  const observe = createObserver(options.observe, (error) => report(error, {}))
  const { shared } = given.capabilities
  const store = shared && options.observe ? observedStore(given, observe) : given
  const leaseTtlMs = options.leaseTtlMs ?? LEASE_TTL_MS
  return {
    store,
    checkpointer: options.checkpointer ?? memoryCheckpointer(),
    agents,
    defaultAgent,
    instance: uuid7(),
    leaseTtlMs: shared ? leaseTtlMs : NO_EXPIRY_MS,
    retryForMs: shared ? leaseTtlMs : 0,
    cancelGraceMs: options.cancelGraceMs ?? 1_000,
    drainMs: options.drainMs ?? 0,
    watchers: createLogWatchers(store),
    sweepMs: options.sweepMs ?? 60_000,
    active: new Map(),
    report,
    observe,
    closing: new AbortController(),
  }
}

function defaultAgentOf(agents: ReadonlyMap<string, Agent>, named: string | undefined): string | undefined {
  const [first] = agents.keys()
  if (first === undefined) throw new RunError('invalid_argument', 'Give the server at least one agent.')
  const chosen = named ?? (agents.size === 1 ? first : undefined)
  if (chosen === undefined || agents.has(chosen)) return chosen
  throw new RunError('invalid_argument', `defaultAgent ${JSON.stringify(chosen)} is not one of the agents.`)
}

/** What a principal asks for, as its owner's. */
const asOwner = <T extends { readonly principal?: Principal | null | undefined }>(request: T) => ({
  ...request,
  owner: ownerOf(request.principal),
})

/** Who asks for a run, in its config, under the names that LangGraph's own servers use. */
function authored({
  principal,
  config,
}: Pick<RunRequest, 'principal' | 'config'>): Pick<RunRequest, 'config'> {
  if (!principal) return { config }
  const configurable = {
    ...config?.configurable,
    langgraph_auth_user: principal,
    langgraph_auth_user_id: principal.id,
  }
  return { config: { ...config, configurable } }
}

async function waitForResult(
  context: RunContext,
  {
    threadId,
    owner,
    runId,
    signal,
  }: { threadId: string; owner: string | null; runId: string; signal?: AbortSignal },
): Promise<RunResult> {
  const { store } = context
  if (!(await findThread(context, threadId, owner)) || !(await loadRun(store, threadId, runId))) {
    throw noSuchRun(runId)
  }
  await waitForEnd(context, threadId, runId, signal)
  const [run, thread] = await Promise.all([loadRun(store, threadId, runId), loadThread(store, threadId)])
  // A run whose thread was deleted meanwhile was stopped for it.
  const { status, error } = run?.record ?? { status: 'interrupted', error: null }
  const interrupts = (thread?.record.interrupts ?? []).map(({ id, value }) => ({ id, value }))
  return { runId, status: status as RunResult['status'], error, interrupts }
}

async function measure({ store, active, watchers }: RunContext): Promise<EngineMeasures> {
  const waiting = await store.list('threads', { where: { queued: 1 }, limit: 1_000 })
  const threads = waiting.docs.map(({ value }) => value as unknown as ThreadRecord)
  const queued = threads.reduce((count, { queue }) => count + queue.length, 0)
  return { running: active.size, queued, ...watchers.measure() }
}

/**
 * Lets runs finish for as long as `drainMs` says, then stops them: where another process can go on with a run it is handed
 * over, else it ends as interrupted. Last, every subscriber is cut off, and reconnects elsewhere.
 */
async function close(context: RunContext): Promise<void> {
  const { active, closing, store, agents, drainMs } = context
  closing.abort()
  const running = [...active.values()]
  const done = Promise.all(running.map((run) => run.done))
  if (drainMs > 0 && running.length > 0) await within(drainMs, done)
  for (const run of running) {
    const resumable = store.capabilities.shared && agents.get(run.assistantId)?.resumable === true
    run.stop(resumable ? 'hand over' : 'close')
  }
  await done
  context.watchers.close(new RunError('closing', 'The server is shutting down.'))
}
