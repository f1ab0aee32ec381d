import { checkOptions, STORAGE_PARTS } from '../options.ts'
import { type Access, ownerOf } from '../principal.ts'
import type { AgentEngine } from './agent-engine.ts'
import type { BeginAnswer, FindAnswer } from './answers/answer.ts'
import { cancelAnswer } from './answers/cancel.ts'
import type { checkpointBefore } from './answers/checkpoint-before.ts'
import { findAnswer } from './answers/find.ts'
import { followFound, followStarted } from './answers/follow.ts'
import type { readSnapshot } from './answers/snapshot.ts'
import { createAttach } from './attach.ts'
import { type Asked, bind, callAs } from './bound.ts'
import { close } from './close.ts'
import type { RunContext } from './context.ts'
import { createContext } from './create-context.ts'
import { cancelRun } from './execution/cancel.ts'
import { acceptRun, startRun } from './execution/start.ts'
import type { EventForm } from './log/form.ts'
import { startMaintenance } from './maintenance.ts'
import { measure } from './measure.ts'
import { copyThread } from './mutations/copy-thread.ts'
import { deleteRun } from './mutations/delete-run.ts'
import { deleteThread } from './mutations/delete-thread.ts'
import { createThread, patchThread } from './mutations/write-record.ts'
import { writeState } from './mutations/write-state.ts'
import { type AgentEngineOptions, ENGINE_OPTIONS } from './options.ts'
import type { CancelAction } from './records/records.ts'
import { answersOf, inputOf } from './request-config.ts'
import { readEvents } from './subscriptions/events.ts'
import { waitForResult } from './subscriptions/result.ts'
import { countThreads, listThreads } from './threads/lists.ts'
import { getRun, listOwnRuns } from './threads/runs.ts'
import { readHistory, readState } from './threads/state.ts'
import { findThread, type OwnedThread, requireRun } from './threads/threads.ts'

export function createAgentEngine(options: AgentEngineOptions): AgentEngine {
  checkOptions('createAgentEngine', options, ENGINE_OPTIONS, STORAGE_PARTS)
  return openEngine(options)
}

/** The same for options that are checked, and may have others with them. */
export function openEngine(options: AgentEngineOptions): AgentEngine {
  const context = createContext(options)
  const maintain = startMaintenance(context)
  const { attach, close: closeAttached } = createAttach(context)
  const bound = { context, maintain, attach }
  const as =
    <Request extends Access, Result>(method: (context: RunContext, request: Request) => Result) =>
    (request: Asked<Request>): Result =>
      callAs(bound, method, request)
  const startAs = as(startRun)
  return bind<AgentEngine>(
    {
      agents: context.agents,
      graphStore(principal) {
        maintain()
        return context.graphStores.of(ownerOf(principal))
      },
      start: (request) => startAs(inputOf(request)),
      respond: (request) => startAs(answersOf(request)),
      wait: as(waitForResult),
      cancel: as(cancelOwn),
      follow: as(follow) as AgentEngine['follow'],
      findAnswer: as(findAnswer),
      snapshot: as(async (...asked: Parameters<typeof readSnapshot>) =>
        (await import('./on-demand.ts')).readSnapshot(...asked),
      ),
      events: as(readEvents) as AgentEngine['events'],
      findThread: as(findThread),
      createThread: as(createThread),
      patchThread: as(patchThread),
      copyThread: as(copyThread),
      deleteThread: as(deleteThread),
      listThreads: (query = {}) => as(listThreads)(query),
      countThreads: (query = {}) => as(countThreads)(query),
      getRun: as(getRun),
      listRuns: as(listOwnRuns),
      deleteRun: as(deleteRun),
      readState: (thread, query) => readState(context, thread, query),
      readHistory: (thread, query, history) => readHistory(context, thread, query, history),
      writeState: as(writeState),
      checkpointBefore: as(async (...asked: Parameters<typeof checkpointBefore>) =>
        (await import('./on-demand.ts')).checkpointBefore(...asked),
      ),
      measure: () => measure(context),
      async close() {
        // They use the engine.
        await closeAttached()
        await close(context)
      },
    },
    bound,
  )
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

type Cancelled = { readonly runId: string; readonly action?: CancelAction } | { readonly answerId: string }

async function cancelOwn(context: RunContext, what: OwnedThread & Cancelled): Promise<void> {
  if ('answerId' in what) {
    await cancelAnswer(context, what)
    return
  }
  await requireRun(context, what)
  await cancelRun(context, what.threadId, what.runId, what.action ?? 'interrupt')
}
