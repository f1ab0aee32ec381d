import type { FaceCall } from '../../face/routes.ts'
import { socketResponse } from '../../http/index.ts'
import type { ThreadsContext } from '../context.ts'
import { createSession } from './session.ts'

/** `GET …/stream` and `…/stream/events` with `Upgrade: websocket`: commands in, their answers and the thread's events out. */
export async function openSocket(context: ThreadsContext, call: FaceCall): Promise<Response> {
  return socketResponse(createSession(context, call))
}
