import type { ThreadSubscription } from '../../runs/index.ts'
import type { StreamParams } from '../wire.ts'

/** What a client asks for that opens a stream, or subscribes on a socket. */
export function subscribingOf(
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

/** LangGraph's Python client, with its own HTTP client and with one that it was given, and the library of its web sockets. */
const PYTHON = /^(?:langgraph-sdk-py|python-httpx)\/|^Python\/\S+ websockets\//

export const isPython = (headers: Headers): boolean => PYTHON.test(headers.get('user-agent') ?? '')

/**
 * Whether this is the subscription by which LangGraph's Python client learns that a run has ended. It takes the end of any namespace
 * for that, so it would give the state after the first call of a model for the output of the run.
 */
const isPythonWatch = ({ channels, namespaces }: StreamParams, { headers }: Request): boolean =>
  channels.join() === 'lifecycle,input' && namespaces === undefined && isPython(headers)
