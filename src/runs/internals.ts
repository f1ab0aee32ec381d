/**
 * What faces need of an engine in addition to its methods: functions over it, so that who uses none of them bundles none. What is
 * rarely called is loaded then.
 */

import { type Access, accessOf } from '../principal.ts'
import type { AgentEngine } from './agent-engine.ts'
import type { FoundAnswer } from './answers/find.ts'
import type { Attach } from './attach.ts'
import { type Asked, boundOf, callAs } from './bound.ts'
import type { RunContext } from './context.ts'
import { later } from './later.ts'
import type { AnswerListQuery, AnswerPage } from './records/answers.ts'
import { type CommandKey, loadReceipt, type Receipt } from './records/idempotency.ts'
import type { AnswerRecord, RunRecord, ThreadRecord } from './records/records.ts'
import type { Owned, ThreadAddress, ThreadLook, ThreadSubscription } from './requests.ts'
import { type RunToEnd, readToEnd as readToEndOf } from './subscriptions/events.ts'
import { subscribe as subscribeTo } from './subscriptions/subscribe.ts'
import { AS_BYTES, type Rendering, type Subscription } from './subscriptions/subscription.ts'
import type { ThreadListQuery, ThreadPage } from './threads/lists.ts'
import { type LookQuery, lookAtThread as look } from './threads/look.ts'
import { type FoundRun, findRun as find, findThread, type OwnedThread } from './threads/threads.ts'
import type { RunTree } from './threads/tree.ts'

const treeOf = /* @__PURE__ */ later(() => import('./threads/tree.ts'), 'readTree')
const keepLatestOf = /* @__PURE__ */ later(() => import('./mutations/keep-latest.ts'), 'keepLatest')

/** The parts that an engine is made of. */
export interface EngineInternals
  extends Pick<RunContext, 'aliases' | 'defaultAgent' | 'limits' | 'store' | 'observe'> {
  /** True where the memory of graphs is a `BaseStore` of the server's, so that it is the same for all principals. */
  readonly sharesGraphStore: boolean
  /**
   * Settles when this process executes no run of the thread any more; undefined where it executes none. For hosts that stop a process
   * which owes no response, such as Workers: give it to their `waitUntil`, as the routes do.
   */
  working(threadId: string): Promise<void> | undefined
  /** Whether somebody in this process reads the thread's events, or waits for the end of a run of it. */
  isFollowed(threadId: string): boolean
  /**
   * What faces share over this engine, such as its runner of jobs. It is made by the first call with this function, and closed before
   * the engine is.
   */
  readonly attach: Attach
}

export function internalsOf(engine: AgentEngine): EngineInternals {
  const { context, attach } = boundOf(engine)
  const { aliases, defaultAgent, limits, store, observe, graphStores, executing, watchers } = context
  return {
    aliases,
    defaultAgent,
    limits,
    store,
    observe,
    sharesGraphStore: graphStores.isShared,
    working: (threadId) => executing.get(threadId),
    isFollowed: watchers.isFollowed,
    attach,
  }
}

type Method<Request extends Access, Result> = (engine: AgentEngine, request: Asked<Request>) => Result

const over =
  <Request extends Access, Result>(
    method: (context: RunContext, request: Request) => Result,
  ): Method<Request, Result> =>
  (engine, request) =>
    callAs(boundOf(engine), method, request)

/** The last sequence number of a thread's log, from which a reader can go on. 0 where the principal has no such thread. */
export const headOf: (engine: AgentEngine, thread: ThreadAddress) => Promise<number> = /* @__PURE__ */ over(
  async (context, thread: OwnedThread): Promise<number> =>
    (await findThread(context, thread)) ? (await context.store.inspect(thread.threadId)).head : 0,
)

/** The events of a thread as SSE frames, whose bytes all subscribers share. Past events that a new client must not see are left out. */
export function subscribe(engine: AgentEngine, request: ThreadSubscription): Subscription
/** The same events in another encoding. */
export function subscribe<Chunk>(
  engine: AgentEngine,
  request: ThreadSubscription,
  rendering: Rendering<Chunk>,
): Subscription<Chunk>
export function subscribe(
  engine: AgentEngine,
  request: ThreadSubscription,
  rendering: Rendering<unknown> = AS_BYTES,
): Subscription<unknown> {
  const open = (context: RunContext, asked: Owned<ThreadSubscription>) =>
    subscribeTo(context, asked, rendering)
  return callAs(boundOf(engine), open, request)
}

/**
 * Waits for the end of a run, takes those of its events that are asked for, and gives its record: undefined where it was undone or
 * deleted.
 */
export const readToEnd: (engine: AgentEngine, request: RunToEnd) => Promise<RunRecord | undefined> =
  /* @__PURE__ */ over(readToEndOf)

/** A thread with the recorded result of a command and a kept answer, read at once: for a request that may start a run on it. */
export const lookAtThread: (engine: AgentEngine, thread: ThreadAddress & LookQuery) => Promise<ThreadLook> =
  /* @__PURE__ */ over(look)

/** A thread with a run of it, read at once. Undefined where the principal has no such thread. */
export const findRun: (
  engine: AgentEngine,
  run: ThreadAddress & { readonly runId: string },
) => Promise<FoundRun | undefined> = /* @__PURE__ */ over(find)

/** A page of a principal's threads, with how many there are on all pages. */
export const listThreadPage: (
  engine: AgentEngine,
  query: Asked<ThreadListQuery & { readonly limit: number }>,
) => Promise<ThreadPage> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./threads/lists.ts'), 'pageOfThreads'),
)

/** The tree of a run's agents, made of its lifecycle events. Undefined when the log has none of them. */
export const readTree = async (
  engine: AgentEngine,
  { threadId }: ThreadRecord,
  runId: string,
): Promise<RunTree | undefined> => treeOf(boundOf(engine).context, threadId, runId)

/** The recorded result of an earlier command. Does not check that the thread is the caller's. Throws `key_reused`. */
export const receiptOf = async (
  engine: AgentEngine,
  threadId: string,
  command: CommandKey | undefined,
): Promise<Receipt | null> => (await loadReceipt(boundOf(engine).context.store, threadId, command)).receipt

/**
 * Shortens threads to their newest state, and gives how many of them their principals have. Of each namespace the newest checkpoint
 * stays, with what it is read from and with the interrupts that wait; records, runs and events stay. Throws before any is changed:
 * `not_supported` where the checkpointer has no `keepLatest`, `thread_busy` where a run is in progress or waits.
 */
export function keepLatest(engine: AgentEngine, threads: readonly ThreadAddress[]): Promise<number> {
  const { context, maintain } = boundOf(engine)
  maintain()
  const asked = threads.map(({ threadId, principal }) => ({ threadId, ...accessOf(principal) }))
  return keepLatestOf(context, asked)
}

/** Merges keys into the metadata of the newest checkpoint. Throws `thread_busy` during a run. */
export const patchState: (
  engine: AgentEngine,
  write: ThreadAddress & { readonly metadata: Readonly<Record<string, unknown>> },
) => Promise<void> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./mutations/patch-state.ts'), 'patchState'),
)

/**
 * Cancels an answer, its runs and the questions that it has asked, and gives it as it was before. Settles when that is recorded. One
 * that has ended is left alone. Throws `no_such_task`.
 */
export const cancelAnswer: (
  engine: AgentEngine,
  answer: ThreadAddress & { readonly answerId: string },
) => Promise<AnswerRecord> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./answers/cancel.ts'), 'cancelAnswer'),
)

/**
 * Settles once an answer does not wait for input any more, on any instance, and gives it; undefined where it is gone. Throws `closing`
 * when the engine closes first.
 */
export const untilAnswered: (
  engine: AgentEngine,
  answer: ThreadAddress & { readonly answerId: string; readonly signal?: AbortSignal | undefined },
) => Promise<FoundAnswer | undefined> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./answers/lists.ts'), 'untilAnswered'),
)

/** A principal's answers of an assistant, the last changed first. */
export const listAnswers: (
  engine: AgentEngine,
  query: Omit<AnswerListQuery, 'owner'> & Pick<ThreadAddress, 'principal'>,
) => Promise<AnswerPage> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./answers/lists.ts'), 'listOwnAnswers'),
)
