import { type Call, DEFAULT_MAX_BODY_BYTES, type WebHandler } from '../../core/http/index.ts'
import { lazy } from '../../core/lazy.ts'
import type { ThreadResource } from '../kit/access.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { PAGE_HEADERS } from '../kit/lists.ts'
import { type FaceEndpoint, type FaceRoute, onDemand } from '../kit/routes.ts'
import {
  createOpenSockets,
  createPendingCommands,
  type ThreadsContext,
  type ThreadsOptions,
} from './context.ts'
import { endpoints } from './on-demand.ts'

/** The Agent Streaming Protocol over HTTP: a route table over the engine. */
export function createThreadsGroup(setup: FaceSetup, { basePath }: ThreadsOptions = {}): WebHandler {
  const sockets = createOpenSockets()
  return createFace<ThreadsContext>(setup, {
    basePath,
    routes: ROUTES,
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    context: {
      sockets,
      commands: createPendingCommands(),
      maxBodyBytes: setup.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    },
    textErrors: true,
    protocolHeaders: { response: PAGE_HEADERS },
    onClose: sockets.leave,
  })
}

type Endpoint = FaceEndpoint<ThreadsContext>
type Named = Exclude<
  keyof Awaited<ReturnType<typeof endpoints>>,
  'namedThread' | 'getTree' | 'listCheckpoints' | 'stateGet'
>

const endpoint = (name: Named): Endpoint => onDemand(async () => (await endpoints())[name])

const namedThread = async (context: ThreadsContext, call: Call): Promise<ThreadResource> =>
  (await endpoints()).namedThread(context, call)

// Loaded together: clients open a stream with their first command.
const exchange = /* @__PURE__ */ lazy(async () => {
  const [{ postCommand }, { postStream }] = await Promise.all([
    import('./commands/dispatch.ts'),
    import('./stream.ts'),
  ])
  return { postCommand, postStream }
})
const postCommand: Endpoint = /* @__PURE__ */ onDemand(async () => (await exchange()).postCommand)
const postStream: Endpoint = /* @__PURE__ */ onDemand(async () => (await exchange()).postStream)
const cancelRun: Endpoint = /* @__PURE__ */ onDemand(
  async () => (await import('../kit/cancel-run.ts')).cancelRun,
)
const getState = /* @__PURE__ */ endpoint('getState')
const openSocket: Endpoint = /* @__PURE__ */ onDemand(
  async () => (await import('./socket/open.ts')).openSocket,
)

const ROUTES: readonly FaceRoute<ThreadsContext>[] = [
  // Each command has its own permission.
  ['POST', '/threads/:thread_id/commands', null, postCommand],
  ['POST', '/threads/:thread_id/stream', 'threads:stream', postStream],
  ['POST', '/threads/:thread_id/stream/events', 'threads:stream', postStream],
  ['SOCKET', '/threads/:thread_id/stream', 'threads:stream', openSocket],
  ['SOCKET', '/threads/:thread_id/stream/events', 'threads:stream', openSocket],
  ['GET', '/threads/:thread_id/state', 'threads:read', getState],
  ['POST', '/threads/:thread_id/state', 'threads:update', /* @__PURE__ */ endpoint('postState')],
  ['PATCH', '/threads/:thread_id/state', 'threads:update', /* @__PURE__ */ endpoint('patchState')],
  [
    'POST',
    '/threads/:thread_id/state/checkpoint',
    'threads:read',
    /* @__PURE__ */ endpoint('postCheckpointState'),
  ],
  ['GET', '/threads/:thread_id/state/:checkpoint_id', 'threads:read', getState],
  ['POST', '/threads/:thread_id/history', 'threads:read', /* @__PURE__ */ endpoint('postHistory')],
  ['GET', '/threads/:thread_id/history', 'threads:read', /* @__PURE__ */ endpoint('getHistory')],
  ['POST', '/threads/:thread_id/runs/:run_id/cancel', 'runs:cancel', cancelRun],
  ['GET', '/threads', 'threads:list', /* @__PURE__ */ endpoint('getThreads')],
  ['POST', '/threads', 'threads:create', /* @__PURE__ */ endpoint('postThread'), namedThread],
  ['POST', '/threads/search', 'threads:list', /* @__PURE__ */ endpoint('searchThreads')],
  ['POST', '/threads/count', 'threads:list', /* @__PURE__ */ endpoint('countThreads')],
  // Each thread has its own permission.
  ['POST', '/threads/prune', null, /* @__PURE__ */ endpoint('pruneThreads')],
  ['POST', '/threads/:thread_id/copy', 'threads:read', /* @__PURE__ */ endpoint('copyThread')],
  ['GET', '/threads/:thread_id', 'threads:read', /* @__PURE__ */ endpoint('getThread')],
  ['PATCH', '/threads/:thread_id', 'threads:update', /* @__PURE__ */ endpoint('patchThread')],
  ['DELETE', '/threads/:thread_id', 'threads:delete', /* @__PURE__ */ endpoint('deleteThread')],
]
