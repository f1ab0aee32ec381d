import type { FaceRoute } from '../../requests/routes.ts'
import type { PlatformContext } from '../context.ts'
import { namedRun, postBatch, postRun, postRunAndWait } from './create.ts'
import { cancelRuns, deleteRun, getRun, getRuns, joinRun } from './records.ts'
import { joinStream, postRunAndStream } from './stream.ts'

/** Runs on threads, and runs with a thread of their own. The face of the threads has the route that cancels one run. */
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
  ['POST', '/runs/cancel', 'runs:cancel', cancelRuns],
]
