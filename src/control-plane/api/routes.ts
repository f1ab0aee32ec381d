import { type Call, empty, isJsonType, isResponse, json, type Route } from '../../http/index.ts'
import { ownerOf } from '../../principal.ts'
import { inheritTokens } from '../auth/inherit.ts'
import type { ControlPlaneContext } from '../context.ts'
import { inheritDeployments } from '../records/inherit.ts'
import { validated } from './conditional.ts'
import type { Operation, Reply } from './operation.ts'
import { readRequest } from './read-request.ts'

/** The routes of operations. The caller is authenticated before its body is read. */
export function routesOf(operations: readonly Operation[], context: ControlPlaneContext): readonly Route[] {
  return operations.map((operation) => [
    operation.method,
    operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    async (call) => {
      if (!operation.isPublic) await inheritRecords(context, call)
      const body = operation.body && (await bodyOf(call))
      const input = { ...readRequest(operation, call, body), call }
      return answer(operation, call.request, await operation.run(context, input as never))
    },
    operation.isPublic ? 'public' : undefined,
  ])
}

/** FastAPI hands a body of another type on as text, which no schema takes. Without a type it is JSON, because clients leave it out. */
async function bodyOf(call: Call): Promise<unknown> {
  const type = call.request.headers.get('content-type')
  return type === null || isJsonType(type) ? call.json() : (await call.text()) || undefined
}

/** Copies, once, what earlier versions kept under the caller's former name. */
async function inheritRecords({ store }: ControlPlaneContext, { principal }: Call): Promise<void> {
  const owner = ownerOf(principal)
  await Promise.all([inheritDeployments(store, owner), inheritTokens(store, owner, principal?.id ?? null)])
}

function answer({ method, responses }: Operation, request: Request, reply: Reply): Response {
  if (isResponse(reply)) return reply
  const { status = Number(Object.keys(responses)[0]), body, headers } = reply
  if (responses[status] === null || body === undefined) return empty(status, headers)
  return method === 'GET' || method === 'PATCH'
    ? validated(request, body, { status, headers })
    : json(body, { status, headers })
}
