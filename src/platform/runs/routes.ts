import type { ThreadResource } from '../../face/access.ts'
import { bodyOf } from '../../face/body.ts'
import { cancelRun } from '../../face/cancel-run.ts'
import { threadIdOf } from '../../face/ids.ts'
import { type FaceCall, type FaceEndpoint, type FaceRoute, onDemand } from '../../face/routes.ts'
import type { PlatformContext } from '../context.ts'
import { namedRun, postBatch, postRun, postRunAndWait } from './create.ts'
import { cancelRuns, deleteRun, getRun, getRuns, joinRun } from './records.ts'
import { schemas } from './schemas.ts'

type Endpoint = FaceEndpoint<PlatformContext>

const streams = () => import('./stream.ts')
const postRunAndStream: Endpoint = /* @__PURE__ */ onDemand(async () => (await streams()).postRunAndStream)
const joinStream: Endpoint = /* @__PURE__ */ onDemand(async () => (await streams()).joinStream)

/** The thread of a run that has one of its own: both have the same id. */
const ownThread = ({ params }: Pick<FaceCall, 'params'>): string => threadIdOf(params.run_id!)

const onOwnThread =
  (endpoint: Endpoint): Endpoint =>
  (context, call) =>
    endpoint(context, { ...call, threadId: ownThread(call) })

const namedThread = async (_: PlatformContext, call: Pick<FaceCall, 'params'>): Promise<ThreadResource> => ({
  threadId: ownThread(call),
})

/** The thread whose runs a request cancels, where it names one. */
const namedInBody = async (_: PlatformContext, call: Pick<FaceCall, 'json'>): Promise<ThreadResource> => {
  const { thread_id } = await bodyOf((await schemas()).cancelManySchema, call)
  return thread_id === undefined ? {} : { threadId: threadIdOf(thread_id) }
}

/** Runs on threads, and with threads of their own. The face of the threads has the route that cancels one. */
export const RUN_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  ['POST', '/threads/:thread_id/runs', 'runs:create', postRun, namedRun],
  ['POST', '/threads/:thread_id/runs/wait', 'runs:create', postRunAndWait, namedRun],
  ['POST', '/threads/:thread_id/runs/stream', 'runs:create', postRunAndStream, namedRun],
  ['GET', '/threads/:thread_id/runs', 'runs:read', getRuns],
  ['GET', '/threads/:thread_id/runs/:run_id', 'runs:read', getRun],
  ['DELETE', '/threads/:thread_id/runs/:run_id', 'runs:delete', deleteRun],
  ['GET', '/threads/:thread_id/runs/:run_id/join', 'runs:read', joinRun],
  ['GET', '/threads/:thread_id/runs/:run_id/stream', 'runs:read', joinStream],
  ['POST', '/runs', 'runs:create', postRun, namedRun],
  ['POST', '/runs/wait', 'runs:create', postRunAndWait, namedRun],
  ['POST', '/runs/stream', 'runs:create', postRunAndStream, namedRun],
  ['POST', '/runs/batch', 'runs:create', postBatch],
  ['POST', '/runs/cancel', 'runs:cancel', cancelRuns, namedInBody],
  ['GET', '/runs/:run_id', 'runs:read', /* @__PURE__ */ onOwnThread(getRun), namedThread],
  ['DELETE', '/runs/:run_id', 'runs:delete', /* @__PURE__ */ onOwnThread(deleteRun), namedThread],
  ['GET', '/runs/:run_id/join', 'runs:read', /* @__PURE__ */ onOwnThread(joinRun), namedThread],
  ['GET', '/runs/:run_id/stream', 'runs:read', /* @__PURE__ */ onOwnThread(joinStream), namedThread],
  ['POST', '/runs/:run_id/cancel', 'runs:cancel', /* @__PURE__ */ onOwnThread(cancelRun), namedThread],
]
