import { empty, json, originOf, reportError, SSE_HEADERS } from '../../../core/http/index.ts'
import { internalsOf } from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { A2AContext } from '../context.ts'
import { methodOf, versionOf } from '../dialects/choose.ts'
import type { A2ACall, Operations } from '../operations/operations.ts'
import { ANSWERS, isStreamed, STREAMS } from './dispatch.ts'
import { idOf, invalidId, type RpcId, readEnvelope } from './envelope.ts'
import { failureOf, isHttpOnly } from './errors.ts'
import { activeExtensions, historyScopeOf, requireExtensions } from './extensions.ts'
import { frameOf } from './items.ts'
import { rpcStream } from './stream.ts'

/** The status that proxies log for a client that disconnected. */
const CLIENT_LEFT = 499

/**
 * `POST /a2a/:assistant_id`: one JSON-RPC request of either dialect. A rejected request is HTTP 200 with an
 * error, except 413 for a body that is too large, 503 for an error that a client should retry, and plain HTTP
 * for 401, 403 and 404. Every A2A method has a response, so a request without an id is invalid, and not a
 * JSON-RPC notification.
 */
export const postRpc =
  (operations: Operations) =>
  async (context: A2AContext, call: FaceCall): Promise<Response> => {
    const response = await answer(operations, context, call)
    for (const [name, uris] of activeExtensions(context, call)) response.headers.set(name, uris)
    return response
  }

async function answer(operations: Operations, context: A2AContext, call: FaceCall): Promise<Response> {
  const { request, params: path } = call
  const version = versionOf(call)
  let id: RpcId = null
  let isEventError = false

  const report = (error: unknown) => reportError(error, context.onError, originOf(request, path))
  const failed = (error: unknown) => failureOf(error, report)
  const failureText = (error: unknown) => JSON.stringify({ jsonrpc: '2.0', id, error: failed(error).error })

  try {
    const body = await call.json()
    id = idOf(body)
    const { hasId, method, params, metadata } = readEnvelope(body)
    // An unknown method and invalid params are told first, as by the official test suite.
    const own = hasId ? operations : withoutId(operations)
    const [dialect, operation] = methodOf(method, version)
    requireExtensions(context, call)
    const asked = (permitted: FaceCall): A2ACall => ({
      context,
      call: permitted,
      assistantId: path.assistant_id ?? '',
      dialect,
      metadata,
      historyScope: historyScopeOf(call),
      lastEventId: request.headers.get('last-event-id') ?? undefined,
    })
    if (!isStreamed(operation)) {
      const result = await ANSWERS[operation](own, asked(call), params)
      return json({ jsonrpc: '2.0', id, result })
    }
    isEventError = dialect.version === '0.3' && version === undefined && wantsEvents(request)
    return await rpcStream({
      call,
      dialect,
      id: JSON.stringify(id),
      open: (streamed) => STREAMS[operation](own, asked(streamed), params),
      failed: failureText,
    })
  } catch (error) {
    if (isHttpOnly(error)) throw error
    // The client disconnected, which is not a failure, and the response is not read.
    if (call.signal?.aborted && error === call.signal.reason) return empty(CLIENT_LEFT)
    const { status, headers, code, error: failure } = failed(error)
    internalsOf(context.engine).observe({
      type: 'request.refused',
      method: request.method,
      route: call.route,
      status,
      code,
      at: Date.now(),
    })
    const refused = { jsonrpc: '2.0', id, error: failure }
    if (!isEventError || status !== 200) return json(refused, { status, headers })
    return new Response(frameOf(JSON.stringify(refused)), { headers: SSE_HEADERS })
  }
}

/** Operations that do nothing, for a request without an id. */
const withoutId = (operations: Operations): Operations =>
  Object.fromEntries(Object.keys(operations).map((name) => [name, refuse])) as unknown as Operations

async function refuse(): Promise<never> {
  throw invalidId()
}

/** v0.3 clients, which send no version header, only read the error of a stream if it is an event. */
const wantsEvents = ({ headers }: Request): boolean =>
  headers.get('accept')?.includes('text/event-stream') ?? false
