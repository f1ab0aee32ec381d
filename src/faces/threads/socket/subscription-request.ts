import type { ThreadSubscription } from '../../../engine/index.ts'
import type { StreamParams } from '../wire.ts'

/** The parameters of a client that opens a stream or subscribes on a socket. */
export function subscriptionRequest(
  params: StreamParams,
  request: Request,
): Pick<ThreadSubscription, 'filter' | 'since' | 'lastEventId'> {
  const { channels, namespaces, depth, since, since_event_id } = params
  const filter = {
    channels,
    namespaces,
    depth,
    ...(isPythonWatch(params, request) && { rootLifecycle: true }),
  }
  return { filter, since, lastEventId: since_event_id }
}

/** LangGraph's Python client with its own or a custom HTTP client, and its web socket library. */
const PYTHON = /^(?:langgraph-sdk-py|python-httpx)\/|^Python\/\S+ websockets\//

export const isPython = (headers: Headers): boolean => PYTHON.test(headers.get('user-agent') ?? '')

/**
 * Whether this is the subscription that LangGraph's Python client uses to detect the end of a run. It treats
 * the end of any namespace as the end of the run, so it would return the state after the first model call as
 * the output.
 */
const isPythonWatch = ({ channels, namespaces }: StreamParams, { headers }: Request): boolean =>
  channels.join() === 'lifecycle,input' && namespaces === undefined && isPython(headers)
