import { later, lazy } from '../core/lazy.ts'
import { checkOptions, STORAGE_PARTS } from '../core/options.ts'
import { type Access, ownerOf, userOf } from '../core/principal.ts'
import { jitter, sleep, startTimer, within } from '../core/time.ts'
import type { AgentEngine } from './agent-engine.ts'
import type { BeginAnswer, FindAnswer } from './answers/answer.ts'
import { asPrincipal, bind, type CallerRequest, createAttach } from './bound.ts'
import { checked } from './check-request.ts'
import { closeReason, type RunContext } from './context.ts'
import { createContext } from './create-context.ts'
import { deadlineOf } from './deadlines.ts'
import { RunError } from './errors.ts'
import type { EventForm } from './log/decode.ts'
import { type AgentEngineOptions, ENGINE_OPTIONS } from './options.ts'
import type { CancelAction, StoredConfig } from './records/records.ts'
import type { Answers, Owned, RunRequest, ThreadEvents } from './requests.ts'
import type { ThreadListQuery } from './threads/lists.ts'
import type { readHistory as historyOf } from './threads/state.ts'
import type { OwnedThread } from './threads/threads.ts'

const startRun = /* @__PURE__ */ later(() => import('./execution/start.ts'), 'startRun')
const acceptRun = /* @__PURE__ */ later(() => import('./execution/start.ts'), 'acceptRun')
const cancelRun = /* @__PURE__ */ later(() => import('./execution/cancel.ts'), 'cancelRun')
const requireRun = /* @__PURE__ */ later(() => import('./threads/threads.ts'), 'requireRun')
const readState = /* @__PURE__ */ later(() => import('./threads/state.ts'), 'readState')
const recoverThread = /* @__PURE__ */ later(() => import('./execution/recover.ts'), 'recoverThread')
const finishOrphanedWork = /* @__PURE__ */ later(() => import('./orphaned-work.ts'), 'finishOrphanedWork')
const deleteExpired = /* @__PURE__ */ later(() => import('./orphaned-work.ts'), 'deleteExpired')
const countThreads = /* @__PURE__ */ later(() => import('./threads/lists.ts'), 'countThreads')
const followFound = /* @__PURE__ */ later(() => import('./answers/follow.ts'), 'followFound')
const followStarted = /* @__PURE__ */ later(() => import('./answers/follow.ts'), 'followStarted')
const measure = /* @__PURE__ */ later(() => import('./measure.ts'), 'measure')
const runToEnd = /* @__PURE__ */ later(() => import('./answers/run-to-end.ts'), 'runToEnd')
const cancelAnswer = /* @__PURE__ */ later(() => import('./answers/cancel.ts'), 'cancelAnswer')

/**
 * Creates an engine. Throws `AgentwireError` `invalid_argument` for unknown or invalid options, and
 * `RunError` `invalid_argument` for invalid agents or aliases.
 */
export function createAgentEngine(options: AgentEngineOptions): AgentEngine {
  checkOptions('createAgentEngine', options, ENGINE_OPTIONS, STORAGE_PARTS)
  return openEngine(options)
}

/** Like `createAgentEngine`, for options that were validated and may contain others. */
export function openEngine(options: AgentEngineOptions): AgentEngine {
  const context = createContext(options, recoverThread)
  const maintain = startMaintenance(context, { finishOrphanedWork, deleteExpired })
  const { attach, close: closeAttached } = createAttach(context)
  const bound = { context, maintain, attach }
  const as =
    <Request extends Access, Result>(method: (context: RunContext, request: Request) => Result) =>
    (request: CallerRequest<Request>): Result =>
      asPrincipal(bound, method, request)
  const startAs = as(startRun)
  const waitAs = as(later(() => import('./subscriptions/wait-for-end.ts'), 'waitForResult'))
  const engine: AgentEngine = bind<AgentEngine>(
    {
      agents: context.agents,
      graphStore(principal) {
        maintain()
        return context.graphStores.of(ownerOf(principal))
      },
      start: async (request) => startAs(inputOf(checked('start', request))),
      respond: async (request) => startAs(answersOf(checked('respond', request))),
      wait: async (run) => waitAs(checked('wait', run)),
      run: (request) => runToEnd(engine, request),
      cancel: as(cancelOwn),
      follow: as(follow) as AgentEngine['follow'],
      findAnswer: as(later(() => import('./answers/find.ts'), 'findAnswer')),
      snapshot: as(later(() => import('./answers/snapshot.ts'), 'readSnapshot')),
      events: as(readEvents) as AgentEngine['events'],
      findThread: as(later(() => import('./threads/threads.ts'), 'findThread')),
      createThread: as(later(() => import('./mutations/write-record.ts'), 'createThread')),
      patchThread: as(later(() => import('./mutations/write-record.ts'), 'patchThread')),
      copyThread: as(later(() => import('./mutations/copy-thread.ts'), 'copyThread')),
      deleteThread: as(later(() => import('./mutations/remove-thread.ts'), 'deleteThread')),
      listThreads: (query = {}) => as(listThreads)(query),
      countThreads: (query = {}) => as(countThreads)(query),
      getRun: as(later(() => import('./threads/threads.ts'), 'getRun')),
      listRuns: as(later(() => import('./threads/threads.ts'), 'listOwnRuns')),
      deleteRun: as(later(() => import('./mutations/remove-thread.ts'), 'deleteRun')),
      readState: (thread, query) => readState(context, thread, query),
      readHistory: (thread, query, history) => readHistory(context, thread, query, history),
      writeState: as(later(() => import('./mutations/write-state.ts'), 'writeState')),
      checkpointBefore: as(later(() => import('./answers/find.ts'), 'checkpointBefore')),
      measure: () => measure(context),
      async close() {
        // Attached parts use the engine, so they close first.
        await closeAttached()
        await close(context)
      },
    },
    bound,
  )
  return engine
}

const events = /* @__PURE__ */ lazy(() => import('./subscriptions/events.ts'))
const states = /* @__PURE__ */ lazy(() => import('./threads/state.ts'))
const lists = /* @__PURE__ */ lazy(() => import('./threads/lists.ts'))

async function* readEvents(context: RunContext, request: Owned<ThreadEvents> & EventForm) {
  yield* (await events()).readEvents(context, request)
}

async function* readHistory(...asked: Parameters<typeof historyOf>) {
  yield* (await states()).readHistory(...asked)
}

async function* listThreads(context: RunContext, query: ThreadListQuery) {
  yield* (await lists()).listThreads(context, query)
}

type Followed = (BeginAnswer | FindAnswer) & EventForm & Access

async function follow(context: RunContext, request: Followed) {
  if (!('start' in request) && !('respond' in request)) return followFound(context, request)
  const { threadId, principal, owner, metadataFilter } = request
  const asked = { threadId, principal, owner, metadataFilter }
  const run =
    'start' in request
      ? inputOf({ ...request.start, ...asked, answer: request.start.answer ?? { details: {} } })
      : answersOf({ ...request.respond, ...asked })
  return followStarted(context, request, await acceptRun(context, { ...run, ...asked }))
}

/** The config of a run with the principal that requests it, under the names of LangGraph's own servers. */
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

/** A request to start a run with an input. */
const inputOf = ({ input = null, ...request }: RunRequest) =>
  ({ ...request, config: configOf(request), start: { kind: 'input', value: input } }) as const

/** A request to start a run with answers to questions. */
const answersOf = ({ answers, update, goto, ...request }: Answers) =>
  ({ ...request, config: configOf(request), start: { kind: 'resume', answers, update, goto } }) as const

type Cancelled = { readonly runId: string; readonly action?: CancelAction } | { readonly answerId: string }

async function cancelOwn(context: RunContext, what: OwnedThread & Cancelled): Promise<void> {
  if ('answerId' in what) {
    await cancelAnswer(context, what)
    return
  }
  await requireRun(context, what)
  await cancelRun(context, what.threadId, what.runId, what.action ?? 'interrupt')
}

/**
 * Lets runs finish for `drainMs`, then stops them: a run that another process can continue is handed over,
 * any other ends as interrupted. Finally it ends every subscription with an error, so that clients reconnect
 * elsewhere. A store or checkpointer that does not respond delays it only for a while: the leases of such
 * runs expire, and other processes find them.
 */
async function close(context: RunContext): Promise<void> {
  const { active, closing, pending, drainMs, cancelGraceMs, wakeUps } = context
  closing.abort()
  wakeUps.close()
  if (drainMs > 0 && active.size > 0) {
    await within(drainMs, Promise.all([...active.values()].map((run) => run.done)))
  }
  for (const run of active.values()) run.stop(closeReason(context, run.assistantId))
  // An agent gets its time to stop, and the end of its run the time of one checkpointer call and one store
  // call.
  const end = performance.now() + cancelGraceMs + 2 * deadlineOf(context)
  do {
    await within(end - performance.now(), Promise.allSettled(pending))
    // A claim that was just written is executed, and stopped immediately, in this turn of the event loop.
    await sleep(0)
  } while (pending.size > 0 && performance.now() < end)
  if (pending.size > 0) {
    context.report(new Error('The server closed while the store or a checkpointer was not responding.'), {})
  }
  context.watchers.close(new RunError('closing', 'The server is shutting down.'))
}

/** Periodic work. Loaded when it first runs. */
interface Maintenance {
  finishOrphanedWork(context: RunContext, recovering: Set<string>, deadlineMs: number): Promise<void>
  deleteExpired(context: RunContext): Promise<void>
}

/**
 * Starts the periodic work of an instance until the engine closes: it finishes the work of lost processes and
 * deletes expired records. Workers allow no timers before the first request, so every request calls the
 * returned function, which starts the work if that failed before.
 */
export function startMaintenance(context: RunContext, work: Maintenance): () => void {
  const { store, leaseTtlMs, sweepMs } = context
  let started = false
  const start = (): void => {
    if (started) return
    // With a store of a single process no other process can be lost, so there is little to find.
    const recoverMs = store.capabilities.shared ? leaseTtlMs / 3 : sweepMs
    const recovering = new Set<string>()
    every(context, recoverMs, () => work.finishOrphanedWork(context, recovering, recoverMs))
    every(context, sweepMs, () => work.deleteExpired(context))
    started = true
  }
  try {
    start()
  } catch {}
  return start
}

/** Repeats `work`, one call at a time. Does not keep the process alive. */
function every({ closing, report }: RunContext, ms: number, work: () => Promise<void>): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const next = (): void => {
    if (closing.signal.aborted) return
    timer = startTimer(jitter(ms), () => {
      void work()
        // Work that a close interrupts is left to other processes: the store may be closed before the work
        // ends.
        .catch((error) => closing.signal.aborted || report(error, {}))
        .then(next)
    })
  }
  next()
  closing.signal.addEventListener('abort', () => clearTimeout(timer))
}
