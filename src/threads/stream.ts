import { type Call, reportError, sseResponse } from '../http/index.ts'
import { ownerOf, permit, threadIdOf } from '../requests/access.ts'
import { bodyOf } from '../requests/body.ts'
import { RunError } from '../runs/index.ts'
import type { ThreadsContext } from './context.ts'
import { streamSchema } from './wire.ts'

/**
 * `POST …/stream` and `…/stream/events`: the thread's events that match the filter, those that were and those to come, for
 * all its runs. The stream never ends by itself: clients take an end for the end of everything. A thread that does not exist
 * yet is waited for, one that was deleted is 404: clients do not come back for it.
 */
export async function postStream(
  { engine, authorize, onError }: ThreadsContext,
  call: Call,
): Promise<Response> {
  const threadId = threadIdOf(call.params.thread_id)
  const { channels, namespaces, depth, since, since_event_id } = await bodyOf(streamSchema, call)
  await permit(authorize, call, 'threads:stream', { threadId })
  const subscription = engine.subscribe({
    threadId,
    owner: ownerOf(call.principal),
    filter: { channels, namespaces, depth },
    since,
    lastEventId: call.request.headers.get('last-event-id') ?? since_event_id,
  })
  await subscription.ready()
  return sseResponse(subscription, {
    signal: call.signal,
    onError: (error) => {
      // A thread that was deleted and a server that closes are no failures.
      if (!(error instanceof RunError)) reportError(error, onError)
    },
  })
}
