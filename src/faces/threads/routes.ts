import * as z from 'zod/mini'
import { sseResponse } from '../../core/http/index.ts'
import { later } from '../../core/lazy.ts'
import { subscribe as subscribeTo } from '../../engine/index.ts'
import { cancelRun } from '../kit/cancel-run.ts'
import { reporterOf } from '../kit/errors.ts'
import { type FaceCall, type FaceRow, type RouteFields, route } from '../kit/routes.ts'
import type * as schemas from './answers.ts'
import { postCommand } from './commands/dispatch.ts'
import type { ThreadsContext } from './context.ts'
import { subscriptionRequest } from './socket/subscription-request.ts'
import type { StreamParams } from './wire.ts'
import * as wire from './wire.ts'

const count = { type: 'integer', minimum: 0 }
const flag = { type: 'boolean' }
const listOf = (items: object) => ({ type: 'array', items })
const text = { type: 'string' }

/**
 * `POST …/stream` and `…/stream/events`: the thread's past and future events that match the filter, for all
 * runs. The stream never ends by itself, because clients treat an end as final. It waits for a thread that
 * does not exist yet. A deleted thread is 404, so that clients stop reconnecting.
 *
 * A client that answers an interrupt opens its stream at the same time. The stream then begins with the new
 * run: the client would take the end of the run before for the end of its own.
 */
async function postStream(context: ThreadsContext, call: FaceCall<StreamParams>): Promise<Response> {
  const asked = subscriptionRequest(call.body, call.request)
  await context.commands.settled(call.threadId)
  const subscription = subscribeTo(context.engine, {
    threadId: call.threadId,
    principal: call.principal,
    ...asked,
    lastEventId: call.request.headers.get('last-event-id') ?? asked.lastEventId,
  })
  await subscription.ready()
  return sseResponse(subscription, { signal: call.signal, onError: reporterOf(context, call) })
}

// A first command does not need these.
const records = () => import('./records.ts')
const search = () => import('./search.ts')
const state = () => import('./state.ts')

/** Answers with schemas that are loaded with the document. */
const answered =
  (answersOf: (loaded: typeof schemas) => Readonly<Record<number, object | null>>) => async () =>
    answersOf(await import('./answers.ts'))

const answersThread = answered(({ thread }) => ({ 200: thread }))
const answersSomeOfState = answered(({ threadState }) => ({ 200: z.partial(threadState) }))

const subscribe: RouteFields<ThreadsContext, wire.StreamParams> = {
  permission: 'threads:stream',
  summary: 'Subscribe to the events of a thread.',
  body: wire.streamSchema,
  streams: true,
  run: postStream,
}
const openSocket: RouteFields<ThreadsContext, undefined> = {
  permission: 'threads:stream',
  // Few clients open one.
  run: later(() => import('./socket/session.ts'), 'openSocket'),
}
const readState = {
  permission: 'threads:read',
  summary: 'Get the state of a thread.',
  query: { subgraphs: flag, select: text },
  answers: answersSomeOfState,
  run: later(state, 'getState'),
} as const

export const ROUTES: readonly FaceRow<ThreadsContext>[] = [
  route('POST', '/threads/:thread_id/commands', {
    // Each command has its own permission, and its errors are answers.
    permission: null,
    summary: 'Send a command, such as run.start. Each method has its own params.',
    body: (toJson) => ({
      ...toJson(wire.commandSchema),
      oneOf: Object.entries({
        'run.start': wire.runStartSchema,
        'input.respond': wire.inputRespondSchema,
        'input.inject': wire.inputInjectSchema,
        'state.get': wire.stateGetSchema,
        'state.listCheckpoints': wire.listCheckpointsSchema,
        'state.fork': wire.stateForkSchema,
        'agent.getTree': wire.getTreeSchema,
      }).map(([method, schema]) => ({
        properties: { method: { const: method }, params: { anyOf: [toJson(schema), { type: 'null' }] } },
      })),
    }),
    answers: answered(({ commandAnswer }) => ({ 200: commandAnswer })),
    run: postCommand,
  }),
  route('POST', '/threads/:thread_id/stream', subscribe),
  route('POST', '/threads/:thread_id/stream/events', subscribe),
  route('SOCKET', '/threads/:thread_id/stream', openSocket),
  route('SOCKET', '/threads/:thread_id/stream/events', openSocket),
  route('GET', '/threads/:thread_id/state', { ...readState, query: { ...readState.query, streamed: flag } }),
  route('POST', '/threads/:thread_id/state', {
    permission: 'threads:update',
    summary: 'Write values into the state of a thread.',
    body: wire.stateWriteSchema,
    answers: answered(({ threadState }) => ({
      200: z.extend(threadState, { configurable: threadState.shape.checkpoint }),
    })),
    run: later(state, 'postState'),
  }),
  route('PATCH', '/threads/:thread_id/state', {
    permission: 'threads:update',
    summary: 'Merge metadata into the newest checkpoint.',
    body: wire.stateMetadataSchema,
    answers: { 204: null },
    run: later(state, 'patchState'),
  }),
  route('POST', '/threads/:thread_id/state/checkpoint', {
    permission: 'threads:read',
    summary: 'Get the state at a checkpoint.',
    body: wire.checkpointStateSchema,
    answers: answersSomeOfState,
    run: later(state, 'postCheckpointState'),
  }),
  route('GET', '/threads/:thread_id/state/:checkpoint_id', readState),
  route('POST', '/threads/:thread_id/history', {
    permission: 'threads:read',
    summary: 'Get the states of a thread, newest first.',
    body: wire.historySchema,
    answers: answered(({ threadState }) => ({ 200: listOf(z.partial(threadState)) })),
    run: later(state, 'postHistory'),
  }),
  route('GET', '/threads/:thread_id/history', {
    permission: 'threads:read',
    summary: 'Get the states of a thread, newest first.',
    query: { limit: count, before: text },
    answers: answered(({ threadState }) => ({ 200: listOf(threadState) })),
    run: later(state, 'getHistory'),
  }),
  route('POST', '/threads/:thread_id/runs/:run_id/cancel', {
    permission: 'runs:cancel',
    summary: 'Cancel a run.',
    query: { wait: flag, action: { enum: ['interrupt', 'rollback'] } },
    answers: { 202: null, 204: null },
    run: cancelRun,
  }),
  route('GET', '/threads', {
    permission: 'threads:list',
    summary: 'List threads with their titles.',
    query: { limit: count, offset: count },
    answers: answered(({ threadTitle }) => ({ 200: listOf(threadTitle) })),
    run: later(records, 'getThreads'),
  }),
  route('POST', '/threads', {
    permission: 'threads:create',
    resource: later(records, 'namedThread'),
    summary: 'Create a thread.',
    body: wire.threadCreateSchema,
    answers: answersThread,
    run: later(records, 'postThread'),
  }),
  route('POST', '/threads/search', {
    permission: 'threads:list',
    summary: 'Search threads.',
    body: wire.threadSearchSchema,
    answers: answered(({ thread }) => ({
      200: listOf(z.partial(z.extend(thread, { extracted: z.record(z.string(), z.unknown()) }))),
    })),
    run: later(search, 'searchThreads'),
  }),
  route('POST', '/threads/count', {
    permission: 'threads:list',
    summary: 'Count threads.',
    body: wire.threadSearchSchema,
    answers: { 200: count },
    run: later(search, 'countThreads'),
  }),
  route('POST', '/threads/prune', {
    // Each thread has its own permission.
    permission: null,
    summary: 'Delete threads, or shorten them to their newest state.',
    body: wire.threadPruneSchema,
    answers: answered(() => ({ 200: z.object({ pruned_count: z.int() }) })),
    run: later(records, 'pruneThreads'),
  }),
  route('POST', '/threads/:thread_id/copy', {
    permission: 'threads:read',
    summary: 'Copy a thread.',
    answers: answersThread,
    run: later(records, 'copyThread'),
  }),
  route('GET', '/threads/:thread_id', {
    permission: 'threads:read',
    summary: 'Get a thread.',
    answers: answersThread,
    run: later(records, 'getThread'),
  }),
  route('PATCH', '/threads/:thread_id', {
    permission: 'threads:update',
    summary: 'Merge metadata into a thread.',
    body: wire.threadPatchSchema,
    answers: answered(({ thread }) => ({ 200: thread, 204: null })),
    run: later(records, 'patchThread'),
  }),
  route('DELETE', '/threads/:thread_id', {
    permission: 'threads:delete',
    summary: 'Delete a thread.',
    answers: { 204: null },
    run: later(records, 'deleteThread'),
  }),
]
