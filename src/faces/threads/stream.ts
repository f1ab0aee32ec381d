import { sseResponse } from '../../core/http/index.ts'
import { subscribe } from '../../engine/index.ts'
import { reporterOf } from '../kit/errors.ts'
import type { FaceCall } from '../kit/routes.ts'
import type { ThreadsContext } from './context.ts'
import { subscribingOf } from './socket/subscribing.ts'
import type { StreamParams } from './wire.ts'

/**
 * `POST …/stream` and `…/stream/events`: the thread's past and future events that match the filter, for all
 * runs. The stream never ends by itself, because clients treat an end as final. It waits for a thread that
 * does not exist yet. A deleted thread is 404, so that clients stop reconnecting.
 *
 * A client that answers an interrupt opens its stream at the same time. The stream then begins with the new
 * run: the client would take the end of the run before for the end of its own.
 */
export async function postStream(context: ThreadsContext, call: FaceCall<StreamParams>): Promise<Response> {
  const asked = subscribingOf(call.body, call.request)
  await context.commands.settled(call.threadId)
  const subscription = subscribe(context.engine, {
    threadId: call.threadId,
    principal: call.principal,
    ...asked,
    lastEventId: call.request.headers.get('last-event-id') ?? asked.lastEventId,
  })
  await subscription.ready()
  return sseResponse(subscription, { signal: call.signal, onError: reporterOf(context, call) })
}
