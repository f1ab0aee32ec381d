import {
  type Authenticate,
  type Call,
  empty,
  identify,
  isJsonType,
  isResponse,
  json,
  type Route,
} from '../../http/index.ts'
import { ownerOf } from '../../principal.ts'
import { inheritTokens } from '../auth/inherit.ts'
import type { ControlPlaneContext } from '../context.ts'
import { inheritDeployments } from '../records/inherit.ts'
import { validated } from './conditional.ts'
import type { Input, Operation, OperationSpec, Reply } from './operation.ts'
import { readRequest } from './read-request.ts'

/**
 * The routes of operations. A body that is not JSON is refused before the caller is known, as FastAPI does it. So the routes
 * themselves ask `authenticate`, once the body is read, and the handler that serves them must not.
 */
export function routesOf(
  operations: readonly Operation[],
  context: ControlPlaneContext,
  authenticate: Authenticate | undefined,
): readonly Route[] {
  return operations.map(({ spec, run }) => [
    spec.method,
    spec.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    async (given) => {
      const body = spec.body && (await bodyOf(given))
      const call = spec.isPublic ? given : await authenticated(given, authenticate, context)
      if (isResponse(call)) return call
      const input = { ...readRequest(spec, call, body), call }
      return answer(spec, call.request, await run(context, input as unknown as Input<OperationSpec>))
    },
    'public',
  ])
}

/** FastAPI hands a body of another type on as text, which no schema takes. Without a type it is JSON, because clients leave it out. */
async function bodyOf(call: Call): Promise<unknown> {
  const type = call.request.headers.get('content-type')
  return type === null || isJsonType(type) ? call.json() : (await call.text()) || undefined
}

async function authenticated(
  call: Call,
  authenticate: Authenticate | undefined,
  { store }: ControlPlaneContext,
): Promise<Call | Response> {
  const principal = await identify(call.request, { principal: call.principal ?? undefined }, authenticate)
  if (isResponse(principal)) return principal
  const owner = ownerOf(principal)
  await Promise.all([inheritDeployments(store, owner), inheritTokens(store, owner, principal?.id ?? null)])
  return { ...call, principal }
}

function answer({ method, responses }: OperationSpec, request: Request, reply: Reply): Response {
  if (isResponse(reply)) return reply
  const { status = Number(Object.keys(responses)[0]), body, headers } = reply
  if (responses[status] === null || body === undefined) return empty(status, headers)
  return method === 'GET' || method === 'PATCH'
    ? validated(request, body, { status, headers })
    : json(body, { status, headers })
}
