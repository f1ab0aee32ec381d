import {
  type Authenticate,
  type Call,
  empty,
  identify,
  isResponse,
  json,
  type Route,
} from '../../http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
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
      const body = spec.body && (await given.json())
      const call = spec.isPublic ? given : await authenticated(given, authenticate)
      if (isResponse(call)) return call
      const input = { ...readRequest(spec, call, body), call }
      return answer(spec, call.request, await run(context, input as unknown as Input<OperationSpec>))
    },
    'public',
  ])
}

async function authenticated(call: Call, authenticate: Authenticate | undefined): Promise<Call | Response> {
  const principal = await identify(call.request, { principal: call.principal ?? undefined }, authenticate)
  return isResponse(principal) ? principal : { ...call, principal }
}

function answer({ method, responses }: OperationSpec, request: Request, reply: Reply): Response {
  if (isResponse(reply)) return reply
  const { status = Number(Object.keys(responses)[0]), body, headers } = reply
  if (responses[status] === null || body === undefined) return empty(status, headers)
  return method === 'GET' || method === 'PATCH'
    ? validated(request, body, { status, headers })
    : json(body, { status, headers })
}
