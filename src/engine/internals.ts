/**
 * Functions on an engine that faces need in addition to its methods, for the modules that answer requests: a
 * route table imports none of them, so that a server starts without them. Rarely called ones are loaded on
 * demand.
 */

import { later } from '../core/lazy.ts'
import { type Access, accessOf } from '../core/principal.ts'
import type { WireMessage } from '../messages/index.ts'
import type { ServedEngine } from './agent-engine.ts'
import type { FoundAnswer } from './answers/find.ts'
import { asPrincipal, boundOf, type CallerRequest } from './bound.ts'
import type { RunContext } from './context.ts'
import type { AnswerListQuery, AnswerPage } from './records/answers.ts'
import type { AnswerRecord, OpenInterrupt, RunRecord, ThreadRecord } from './records/records.ts'
import type { Owned, ThreadAddress, ThreadLook, ThreadSubscription } from './requests.ts'
import { type RunToEnd, readToEnd as readToEndOf } from './subscriptions/events.ts'
import { subscribe as subscribeTo } from './subscriptions/subscribe.ts'
import { AS_BYTES, type Rendering, type Subscription } from './subscriptions/subscription.ts'
import type { ThreadListQuery, ThreadPage } from './threads/lists.ts'
import { type LookQuery, lookAtThread as look } from './threads/look.ts'
import { questionsBeforeInput as beforeInput, openQuestions as openOf } from './threads/state.ts'
import {
  type FoundRun,
  findRun as find,
  findThreads as findMany,
  findThread,
  type OwnedThread,
} from './threads/threads.ts'
import type { RunTree } from './threads/tree.ts'

const treeOf = /* @__PURE__ */ later(() => import('./threads/tree.ts'), 'readTree')
const streamedOf = /* @__PURE__ */ later(() => import('./answers/streamed.ts'), 'readStreamed')
const keepLatestOf = /* @__PURE__ */ later(() => import('./mutations/keep-latest.ts'), 'keepLatest')

type Method<Request extends Access, Result> = (
  engine: ServedEngine,
  request: CallerRequest<Request>,
) => Result

const over =
  <Request extends Access, Result>(
    method: (context: RunContext, request: Request) => Result,
  ): Method<Request, Result> =>
  (engine, request) =>
    asPrincipal(boundOf(engine), method, request)

/**
 * The last sequence number of a thread's log, from which a reader can continue. 0 if the principal has no
 * such thread.
 */
export const headOf: (engine: ServedEngine, thread: ThreadAddress) => Promise<number> = /* @__PURE__ */ over(
  async (context, thread: OwnedThread): Promise<number> =>
    (await findThread(context, thread)) ? (await context.store.inspect(thread.threadId)).head : 0,
)

/**
 * The events of a thread as SSE frames, whose bytes all subscribers share. Past events that a new client must
 * not see are omitted.
 */
export function subscribe(engine: ServedEngine, request: ThreadSubscription): Subscription
/** The same events in another encoding. */
export function subscribe<Chunk>(
  engine: ServedEngine,
  request: ThreadSubscription,
  rendering: Rendering<Chunk>,
): Subscription<Chunk>
export function subscribe(
  engine: ServedEngine,
  request: ThreadSubscription,
  rendering: Rendering<unknown> = AS_BYTES,
): Subscription<unknown> {
  const open = (context: RunContext, asked: Owned<ThreadSubscription>) =>
    subscribeTo(context, asked, rendering)
  return asPrincipal(boundOf(engine), open, request)
}

/**
 * Waits for the end of a run, passes the requested events to `take`, and returns the run's record. Undefined
 * if the run was undone or deleted.
 */
export const readToEnd: (engine: ServedEngine, request: RunToEnd) => Promise<RunRecord | undefined> =
  /* @__PURE__ */ over(readToEndOf)

/**
 * A thread with the recorded result of a command and a kept answer, read together, for a request that may
 * start a run on it.
 */
export const lookAtThread: (engine: ServedEngine, thread: ThreadAddress & LookQuery) => Promise<ThreadLook> =
  /* @__PURE__ */ over(look)

/** A thread and one of its runs, read together. Undefined if the principal has no such thread. */
export const findRun: (
  engine: ServedEngine,
  run: ThreadAddress & { readonly runId: string },
) => Promise<FoundRun | undefined> = /* @__PURE__ */ over(find)

/** A page of a principal's threads, with the total count. */
export const listThreadPage: (
  engine: ServedEngine,
  query: CallerRequest<ThreadListQuery & { readonly limit: number }>,
) => Promise<ThreadPage> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./threads/lists.ts'), 'pageOfThreads'),
)

/** The tree of a run's agents, built from its lifecycle events. Undefined if the log has none. */
export const readTree = async (
  engine: ServedEngine,
  { threadId }: ThreadRecord,
  runId: string,
): Promise<RunTree | undefined> => treeOf(boundOf(engine).context, threadId, runId)

/** The messages of the agent that the active run of a thread has streamed so far, as a state spells them. */
export const readStreamed = (engine: ServedEngine, thread: ThreadRecord): Promise<readonly WireMessage[]> =>
  streamedOf(boundOf(engine).context, thread)

/** The questions of a thread that can be answered, by the agent's state. */
export const openQuestions = (
  engine: ServedEngine,
  thread: ThreadRecord,
): Promise<readonly OpenInterrupt[]> => openOf(boundOf(engine).context, thread)

/**
 * The open questions of a thread that a new input meets: it answers or discards them, so that a route may
 * reject it. None after a failed run.
 */
export const questionsBeforeInput = (
  engine: ServedEngine,
  thread: ThreadRecord,
): Promise<readonly OpenInterrupt[]> => beforeInput(boundOf(engine).context, thread)

/**
 * Up to 1,000 threads as `findThread` finds each, in the requested order, and those that are being deleted,
 * too. Their records are read at once.
 */
export async function findThreads(
  engine: ServedEngine,
  threads: readonly ThreadAddress[],
): Promise<readonly (ThreadRecord | undefined)[]> {
  const asked = threads.map(({ threadId, principal }) => ({ threadId, ...accessOf(principal) }))
  return findMany(boundOf(engine).context, asked)
}

/**
 * Shortens threads to their newest state, and returns how many of them belong to their principals. For each
 * namespace, the newest checkpoint stays, with the data it depends on and with pending interrupts. Records,
 * runs and events stay. Throws before any change: `not_supported` if the checkpointer has no `keepLatest`,
 * `thread_busy` if a run is active or waiting.
 */
export function keepLatest(engine: ServedEngine, threads: readonly ThreadAddress[]): Promise<number> {
  const { context, maintain } = boundOf(engine)
  maintain()
  const asked = threads.map(({ threadId, principal }) => ({ threadId, ...accessOf(principal) }))
  return keepLatestOf(context, asked)
}

/** Merges keys into the metadata of the newest checkpoint. Throws `thread_busy` during a run. */
export const patchState: (
  engine: ServedEngine,
  write: ThreadAddress & { readonly metadata: Readonly<Record<string, unknown>> },
) => Promise<void> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./mutations/patch-state.ts'), 'patchState'),
)

/**
 * Cancels an answer, its runs and its open questions, and returns it as it was before. Resolves when that is
 * recorded. An ended answer is not changed. Throws `no_such_task`.
 */
export const cancelAnswer: (
  engine: ServedEngine,
  answer: ThreadAddress & { readonly answerId: string },
) => Promise<AnswerRecord> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./answers/cancel.ts'), 'cancelAnswer'),
)

/**
 * Resolves when an answer no longer waits for input, on any instance, and returns it; undefined if it no
 * longer exists. Throws `closing` if the engine closes first.
 */
export const untilAnswered: (
  engine: ServedEngine,
  answer: ThreadAddress & { readonly answerId: string; readonly signal?: AbortSignal | undefined },
) => Promise<FoundAnswer | undefined> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./answers/lists.ts'), 'untilAnswered'),
)

/** A principal's answers of an assistant, last changed first. */
export const listAnswers: (
  engine: ServedEngine,
  query: Omit<AnswerListQuery, 'owner'> & Pick<ThreadAddress, 'principal'>,
) => Promise<AnswerPage> = /* @__PURE__ */ over(
  /* @__PURE__ */ later(() => import('./answers/lists.ts'), 'listOwnAnswers'),
)
