import { HttpError, json, jsonList } from '../../core/http/index.ts'
import { reporterOf } from '../../faces/kit/errors.ts'
import { numberParam } from '../../faces/kit/lists.ts'
import { requireThread } from '../../faces/kit/require-thread.ts'
import type { FaceCall } from '../../faces/kit/routes.ts'
import type { DevtoolsContext } from './context.ts'
import { presentCheckpoint, presentState } from './present.ts'
import type { CheckpointRow } from './wire.ts'

/** `GET …/api/threads/{thread_id}/checkpoints?limit&before&ns`: newest first, without their values. */
export async function getCheckpoints(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { searchParams } = call.url
  const limit = numberParam(call, 'limit', 50, 200)
  const before = searchParams.get('before') ?? undefined
  const checkpointNs = searchParams.get('ns') ?? ''
  const thread = await requireThread(context, call)
  const snapshots = context.engine.readHistory(thread, { checkpointNs }, { limit, before })
  async function* rows(): AsyncGenerator<CheckpointRow> {
    for await (const snapshot of snapshots) yield presentCheckpoint(snapshot)
  }
  return jsonList(rows(), reporterOf(context, call))
}

/** `GET …/api/threads/{thread_id}/checkpoints/{checkpoint_id}?ns`: the complete state at a checkpoint. */
export async function getCheckpoint(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const thread = await requireThread(context, call)
  const checkpointNs = call.url.searchParams.get('ns') ?? ''
  const query = { checkpointNs, checkpointId: call.params.checkpoint_id! }
  const snapshot = await context.engine.readState(thread, query)
  if (snapshot) return json(presentState(snapshot))
  throw new HttpError(404, 'not_found', 'Checkpoint not found on this thread.')
}
