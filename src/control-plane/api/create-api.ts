import {
  type Call,
  createHandler,
  empty,
  type HandlerOptions,
  isJsonType,
  isResponse,
  json,
  type Route,
  type WebHandler,
} from '../../core/http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import { pageRoute } from '../page/route.ts'
import { validated } from './conditional.ts'
import { documentRoute } from './document/route.ts'
import { encodeErrors } from './encode-error.ts'
import type { Operation, Reply } from './operation.ts'
import { parseJson } from './parse-json.ts'
import { readRequest } from './read-request.ts'

export interface ApiOptions
  extends Pick<HandlerOptions, 'authenticate' | 'basePath' | 'maxBodyBytes' | 'onClose'> {
  readonly operations: readonly Operation[]
  readonly context: ControlPlaneContext
}

/** Serves operations: their routes, their errors and their OpenAPI document. */
export function createApi({ operations, context, ...options }: ApiOptions): WebHandler {
  return createHandler({
    ...options,
    routes: [
      ...operations.map((operation) => routeOf(operation, context)),
      documentRoute(operations),
      pageRoute,
    ],
    parseJson,
    protocolHeaders: { request: ['x-goog-content-length-range', 'x-tenant-id'] },
    encodeError: encodeErrors(context.onError),
    onError: context.onError,
  })
}

/** The caller is authenticated before the body is read. */
const routeOf = (operation: Operation, context: ControlPlaneContext): Route => [
  operation.method,
  operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
  async (call) => {
    const body = operation.body && (await bodyOf(call))
    const input = { ...readRequest(operation, call, body), call }
    return answer(operation, call.request, await operation.run(context, input as never))
  },
  operation.isPublic ? 'public' : undefined,
]

/** FastAPI reads a body of another type as text, which no schema accepts. Clients omit the type. */
async function bodyOf(call: Call): Promise<unknown> {
  const type = call.request.headers.get('content-type')
  return type === null || isJsonType(type) ? call.json() : (await call.text()) || undefined
}

function answer({ method, responses }: Operation, request: Request, reply: Reply): Response {
  if (isResponse(reply)) return reply
  const { status = Number(Object.keys(responses)[0]), body, headers } = reply
  if (responses[status] === null || body === undefined) return empty(status, headers)
  return method === 'GET' || method === 'PATCH'
    ? validated(request, body, { status, headers })
    : json(body, { status, headers })
}
