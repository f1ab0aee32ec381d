import { socketResponse } from '../../../core/http/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { ThreadsContext } from '../context.ts'
import { createSession } from './session.ts'

/**
 * `GET …/stream` and `…/stream/events` with `Upgrade: websocket`: receives commands, sends their answers and
 * the thread's events.
 */
export async function openSocket(context: ThreadsContext, call: FaceCall): Promise<Response> {
  return socketResponse(createSession(context, call))
}
