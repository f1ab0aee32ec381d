import { cancelRun } from '../face/cancel-run.ts'
import { createFace, type FaceSetup } from '../face/create-face.ts'
import type { FaceRoute } from '../face/routes.ts'
import { DEFAULT_MAX_BODY_BYTES, type WebHandler } from '../http/index.ts'
import { postCommand } from './commands/dispatch.ts'
import { createOpenSockets, type ThreadsContext, type ThreadsOptions } from './context.ts'
import {
  copyThread,
  deleteThread,
  getThread,
  getThreads,
  namedThread,
  patchThread,
  postThread,
  pruneThreads,
} from './records.ts'
import { countThreads, searchThreads } from './search.ts'
import { getHistory, getState, patchState, postCheckpointState, postHistory, postState } from './state.ts'
import { openSocket, postStream } from './stream.ts'

/** The Agent Streaming Protocol over HTTP: a route table over the engine. */
export function createThreadsGroup(setup: FaceSetup, { basePath }: ThreadsOptions = {}): WebHandler {
  const sockets = createOpenSockets()
  return createFace<ThreadsContext>(setup, {
    basePath,
    routes: ROUTES,
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    context: { sockets, maxBodyBytes: setup.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES },
    textErrors: true,
    onClose: sockets.leave,
  })
}

const ROUTES: readonly FaceRoute<ThreadsContext>[] = [
  // Each command has a permission of its own.
  ['POST', '/threads/:thread_id/commands', null, postCommand],
  ['POST', '/threads/:thread_id/stream', 'threads:stream', postStream],
  ['POST', '/threads/:thread_id/stream/events', 'threads:stream', postStream],
  ['SOCKET', '/threads/:thread_id/stream', 'threads:stream', openSocket],
  ['SOCKET', '/threads/:thread_id/stream/events', 'threads:stream', openSocket],
  ['GET', '/threads/:thread_id/state', 'threads:read', getState],
  ['POST', '/threads/:thread_id/state', 'threads:update', postState],
  ['PATCH', '/threads/:thread_id/state', 'threads:update', patchState],
  ['POST', '/threads/:thread_id/state/checkpoint', 'threads:read', postCheckpointState],
  ['GET', '/threads/:thread_id/state/:checkpoint_id', 'threads:read', getState],
  ['POST', '/threads/:thread_id/history', 'threads:read', postHistory],
  ['GET', '/threads/:thread_id/history', 'threads:read', getHistory],
  ['POST', '/threads/:thread_id/runs/:run_id/cancel', 'runs:cancel', cancelRun],
  ['GET', '/threads', 'threads:list', getThreads],
  ['POST', '/threads', 'threads:create', postThread, namedThread],
  ['POST', '/threads/search', 'threads:list', searchThreads],
  ['POST', '/threads/count', 'threads:list', countThreads],
  // Each thread has a permission of its own.
  ['POST', '/threads/prune', null, pruneThreads],
  ['POST', '/threads/:thread_id/copy', 'threads:read', copyThread],
  ['GET', '/threads/:thread_id', 'threads:read', getThread],
  ['PATCH', '/threads/:thread_id', 'threads:update', patchThread],
  ['DELETE', '/threads/:thread_id', 'threads:delete', deleteThread],
]
