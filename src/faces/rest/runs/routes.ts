import type { Call } from '../../../core/http/index.ts'
import { lazy } from '../../../core/lazy.ts'
import type { ThreadResource } from '../../kit/access.ts'
import { cancelRun } from '../../kit/cancel-run.ts'
import { threadIdOf } from '../../kit/ids.ts'
import { type FaceCall, type FaceEndpoint, type FaceRoute, onDemand } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'

type Endpoint = FaceEndpoint<PlatformContext>

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))

type Endpoints = Omit<Awaited<ReturnType<typeof endpoints>>, 'namedRun' | 'namedInBody'>

const endpoint = (name: keyof Endpoints): Endpoint => onDemand(async () => (await endpoints())[name])

const streams = () => import('./stream.ts')
const postRunAndStream: Endpoint = /* @__PURE__ */ onDemand(async () => (await streams()).postRunAndStream)
const joinStream: Endpoint = /* @__PURE__ */ onDemand(async () => (await streams()).joinStream)

/** A run with its own thread has the same id as the thread. */
const ownThread = ({ params }: Pick<FaceCall, 'params'>): string => threadIdOf(params.run_id!)

const onOwnThread =
  (endpoint: Endpoint): Endpoint =>
  (context, call) =>
    endpoint(context, { ...call, threadId: ownThread(call) })

const namedThread = async (_: PlatformContext, call: Pick<FaceCall, 'params'>): Promise<ThreadResource> => ({
  threadId: ownThread(call),
})

const namedRun = async (context: PlatformContext, call: Call): Promise<ThreadResource> =>
  (await endpoints()).namedRun(context, call)

const namedInBody = async (context: PlatformContext, call: Call): Promise<ThreadResource> =>
  (await endpoints()).namedInBody(context, call)

/** Runs on threads, and with their own threads. The threads' face has the route that cancels one run. */
export const RUN_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  ['POST', '/threads/:thread_id/runs', 'runs:create', /* @__PURE__ */ endpoint('postRun'), namedRun],
  [
    'POST',
    '/threads/:thread_id/runs/wait',
    'runs:create',
    /* @__PURE__ */ endpoint('postRunAndWait'),
    namedRun,
  ],
  ['POST', '/threads/:thread_id/runs/stream', 'runs:create', postRunAndStream, namedRun],
  ['GET', '/threads/:thread_id/runs', 'runs:read', /* @__PURE__ */ endpoint('getRuns')],
  ['GET', '/threads/:thread_id/runs/:run_id', 'runs:read', /* @__PURE__ */ endpoint('getRun')],
  ['DELETE', '/threads/:thread_id/runs/:run_id', 'runs:delete', /* @__PURE__ */ endpoint('deleteRun')],
  ['GET', '/threads/:thread_id/runs/:run_id/join', 'runs:read', /* @__PURE__ */ endpoint('joinRun')],
  ['GET', '/threads/:thread_id/runs/:run_id/stream', 'runs:read', joinStream],
  ['POST', '/runs', 'runs:create', /* @__PURE__ */ endpoint('postRun'), namedRun],
  ['POST', '/runs/wait', 'runs:create', /* @__PURE__ */ endpoint('postRunAndWait'), namedRun],
  ['POST', '/runs/stream', 'runs:create', postRunAndStream, namedRun],
  // Each of its runs has a permission of its own.
  ['POST', '/runs/batch', null, /* @__PURE__ */ endpoint('postBatch')],
  ['POST', '/runs/cancel', 'runs:cancel', /* @__PURE__ */ endpoint('cancelRuns'), namedInBody],
  [
    'GET',
    '/runs/:run_id',
    'runs:read',
    /* @__PURE__ */ onOwnThread(/* @__PURE__ */ endpoint('getRun')),
    namedThread,
  ],
  [
    'DELETE',
    '/runs/:run_id',
    'runs:delete',
    /* @__PURE__ */ onOwnThread(/* @__PURE__ */ endpoint('deleteRun')),
    namedThread,
  ],
  [
    'GET',
    '/runs/:run_id/join',
    'runs:read',
    /* @__PURE__ */ onOwnThread(/* @__PURE__ */ endpoint('joinRun')),
    namedThread,
  ],
  ['GET', '/runs/:run_id/stream', 'runs:read', /* @__PURE__ */ onOwnThread(joinStream), namedThread],
  ['POST', '/runs/:run_id/cancel', 'runs:cancel', /* @__PURE__ */ onOwnThread(cancelRun), namedThread],
]
