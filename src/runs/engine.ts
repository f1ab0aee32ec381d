import type { Agent, HistoryOptions, StateSnapshot } from '../agents/agent.ts'
import { uuid7 } from '../ids.ts'
import type { Checkpointer } from '../storage/checkpointer/checkpointer.ts'
import type { Store } from '../storage/store/store.ts'
import type { ErrorReporter, RunContext } from './context.ts'
import { RunError } from './errors.ts'
import { cancelRun } from './execution/cancel.ts'
import { startMaintenance } from './execution/maintenance.ts'
import { type StartRequest, startRun } from './execution/start.ts'
import { createLogWatchers } from './log/watchers.ts'
import {
  type CommandKey,
  loadReceipt,
  type Receipt,
  type Started,
  type Written,
} from './records/idempotency.ts'
import type { CancelAction, ThreadRecord } from './records/records.ts'
import { waitForEnd } from './stop.ts'
import type { SubscribeRequest } from './subscriptions/replay.ts'
import { type Subscription, subscribe } from './subscriptions/subscribe.ts'
import { deleteThread } from './threads/delete-thread.ts'
import { readHistory, readState, type StateQuery } from './threads/state.ts'
import {
  createThread,
  findThread,
  listThreads,
  type NewThread,
  patchThread,
  type ThreadListQuery,
} from './threads/threads.ts'
import { type RunTree, readTree } from './threads/tree.ts'
import { type StateWrite, writeState } from './threads/write-state.ts'

export interface RunEngineOptions {
  readonly agents: ReadonlyMap<string, Agent>
  /** The assistant of a thread that names none. Default: the only agent, if there is one only. */
  readonly defaultAgent?: string | undefined
  readonly store: Store
  readonly checkpointer: Checkpointer
  /** How long a silent process keeps its runs, in milliseconds. Default: 15,000. Without effect on a store of one process. */
  readonly leaseTtlMs?: number | undefined
  /** How long a cancelled agent may take to stop before it is left behind, in milliseconds. Default: 1,000. */
  readonly cancelGraceMs?: number | undefined
  /** How long runs may go on when the server closes, in milliseconds. Default: 0. */
  readonly drainMs?: number | undefined
  /** How often what has expired is dropped, in milliseconds. Default: 60,000. */
  readonly sweepMs?: number | undefined
  /** Told of failures that no caller can be told of. */
  readonly onError?: ErrorReporter | undefined
}

/** The only place where runs start, wait, stop and end. Every face of the server stands on it. */
export interface RunEngine {
  readonly agents: ReadonlyMap<string, Agent>
  /** The assistant of a thread that names none; undefined when there are several and none was chosen. */
  readonly defaultAgent: string | undefined
  start(request: StartRequest): Promise<Started>
  cancel(threadId: string, runId: string, action: CancelAction): Promise<void>
  subscribe(request: SubscribeRequest): Subscription
  readState(thread: ThreadRecord, query?: StateQuery): Promise<StateSnapshot | undefined>
  readHistory(thread: ThreadRecord, query: StateQuery, options: HistoryOptions): AsyncIterable<StateSnapshot>
  writeState(write: StateWrite): Promise<Written>
  /** What a command that was sent before came to. The thread must be the caller's. Throws `key_reused`. */
  recall(threadId: string, command: CommandKey | undefined): Promise<Receipt | null>
  findThread(threadId: string, owner: string | null): Promise<ThreadRecord | undefined>
  createThread(thread: NewThread): Promise<ThreadRecord | undefined>
  patchThread(
    threadId: string,
    owner: string | null,
    metadata: Readonly<Record<string, unknown>>,
  ): Promise<ThreadRecord>
  listThreads(query: ThreadListQuery): AsyncIterable<ThreadRecord>
  deleteThread(threadId: string, owner: string | null): Promise<boolean>
  /** Undefined when the log knows nothing of the run. */
  readTree(threadId: string, runId: string): Promise<RunTree | undefined>
  /** Settles when the run has ended. */
  ended(threadId: string, runId: string): Promise<void>
  /** The last sequence number of the thread's log. */
  head(threadId: string): Promise<number>
  /** Drains, stops or hands over the runs of this process, and ends every subscription. */
  close(): Promise<void>
}

const LEASE_TTL_MS = 15_000
/** A lease that nobody else can see never has to expire. */
const NO_EXPIRY_MS = 100 * 365 * 24 * 60 * 60 * 1_000

export function createRunEngine(options: RunEngineOptions): RunEngine {
  const { agents, store, checkpointer } = options
  const [firstAgent] = agents.keys()
  if (firstAgent === undefined) throw new RunError('invalid_argument', 'Give the server at least one agent.')
  const defaultAgent = options.defaultAgent ?? (agents.size === 1 ? firstAgent : undefined)
  if (defaultAgent !== undefined && !agents.has(defaultAgent)) {
    throw new RunError(
      'invalid_argument',
      `defaultAgent ${JSON.stringify(defaultAgent)} is not one of the agents.`,
    )
  }
  const context: RunContext = {
    store,
    checkpointer,
    agents,
    defaultAgent: defaultAgent ?? firstAgent,
    instance: uuid7(),
    leaseTtlMs: store.capabilities.shared ? (options.leaseTtlMs ?? LEASE_TTL_MS) : NO_EXPIRY_MS,
    retryForMs: store.capabilities.shared ? (options.leaseTtlMs ?? LEASE_TTL_MS) : 0,
    cancelGraceMs: options.cancelGraceMs ?? 1_000,
    drainMs: options.drainMs ?? 0,
    watchers: createLogWatchers(store),
    sweepMs: options.sweepMs ?? 60_000,
    active: new Map(),
    report: options.onError ?? ((error) => console.error('agentwire: a run could not be recorded', error)),
    closing: new AbortController(),
  }
  startMaintenance(context)
  return {
    agents,
    defaultAgent,
    start: (request) => startRun(context, request),
    cancel: (threadId, runId, action) => cancelRun(context, threadId, runId, action),
    subscribe: (request) => subscribe(context, request),
    readState: (thread, query) => readState(context, thread, query),
    readHistory: (thread, query, history) => readHistory(context, thread, query, history),
    writeState: (write) => writeState(context, write),
    recall: async (threadId, command) => (await loadReceipt(store, threadId, command)).receipt,
    findThread: (threadId, owner) => findThread(context, threadId, owner),
    createThread: (thread) => createThread(context, thread),
    patchThread: (threadId, owner, metadata) => patchThread(context, threadId, owner, metadata),
    listThreads: (query) => listThreads(context, query),
    deleteThread: (threadId, owner) => deleteThread(context, threadId, owner),
    readTree: (threadId, runId) => readTree(context, threadId, runId),
    ended: (threadId, runId) => waitForEnd(context, threadId, runId),
    head: async (threadId) => (await store.inspect(threadId)).head,
    close: () => close(context),
  }
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

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, over])
  clearTimeout(timer)
}
