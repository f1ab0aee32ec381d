import {
  type Call,
  createHandler,
  type Endpoint,
  type HandlerOptions,
  type Route,
  type WebHandler,
} from '../http/index.ts'
import type { Authorize } from '../requests/access.ts'
import type { RunEngine } from '../runs/index.ts'
import { postCommand } from './commands/dispatch.ts'
import type { ThreadsContext } from './context.ts'
import { encodeThreadsError } from './errors.ts'
import {
  cancelRun,
  countThreads,
  deleteThread,
  getThread,
  getThreads,
  patchThread,
  postThread,
  searchThreads,
} from './records.ts'
import { getHistory, getState, postCheckpointState, postHistory, postState } from './state.ts'
import { postStream } from './stream.ts'

export interface ThreadsGroupOptions
  extends Pick<HandlerOptions, 'basePath' | 'authenticate' | 'maxBodyBytes' | 'onError' | 'onClose'> {
  readonly engine: RunEngine
  readonly authorize?: Authorize | undefined
}

/** The Agent Streaming Protocol over HTTP: a route table over the run engine. */
export function createThreadsGroup(options: ThreadsGroupOptions): WebHandler {
  const { engine, authorize, ...handler } = options
  return createHandler({
    ...handler,
    routes: threadRoutes({ engine, authorize, onError: options.onError }),
    encodeError: encodeThreadsError,
  })
}

type ThreadEndpoint = (context: ThreadsContext, call: Call) => Promise<Response>

function threadRoutes(context: ThreadsContext): readonly Route[] {
  const on =
    (endpoint: ThreadEndpoint): Endpoint =>
    (call) =>
      endpoint(context, call)
  return [
    ['POST', '/threads/:thread_id/commands', on(postCommand)],
    ['POST', '/threads/:thread_id/stream', on(postStream)],
    ['POST', '/threads/:thread_id/stream/events', on(postStream)],
    ['GET', '/threads/:thread_id/state', on(getState)],
    ['POST', '/threads/:thread_id/state', on(postState)],
    ['POST', '/threads/:thread_id/state/checkpoint', on(postCheckpointState)],
    ['GET', '/threads/:thread_id/state/:checkpoint_id', on(getState)],
    ['POST', '/threads/:thread_id/history', on(postHistory)],
    ['GET', '/threads/:thread_id/history', on(getHistory)],
    ['POST', '/threads/:thread_id/runs/:run_id/cancel', on(cancelRun)],
    ['GET', '/threads', on(getThreads)],
    ['POST', '/threads', on(postThread)],
    ['POST', '/threads/search', on(searchThreads)],
    ['POST', '/threads/count', on(countThreads)],
    ['GET', '/threads/:thread_id', on(getThread)],
    ['PATCH', '/threads/:thread_id', on(patchThread)],
    ['DELETE', '/threads/:thread_id', on(deleteThread)],
  ]
}
