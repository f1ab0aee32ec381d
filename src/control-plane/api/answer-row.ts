import type * as z from 'zod/mini'
import { type Call, empty, isJsonType, isResponse, json, type Route } from '../../core/http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import { notesOf } from '../wire/common.ts'
import { createFindings } from '../wire/problems.ts'
import { validated } from './headers.ts'
import type { AnyObject, Operation, Reply } from './route.ts'

/** The caller is authenticated before the body is read. */
export const routeOf = (operation: Operation, context: ControlPlaneContext): Route => [
  operation.method,
  operation.path,
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

function answer({ method, answers }: Operation, request: Request, reply: Reply): Response {
  if (isResponse(reply)) return reply
  const { status = Number(Object.keys(answers)[0]), body, headers } = reply
  if (answers[status] === null || body === undefined) return empty(status, headers)
  return method === 'GET' || method === 'PATCH'
    ? validated(request, body, { status, headers })
    : json(body, { status, headers })
}

/** The parsed path, query and body of a request. Throws `InvalidRequest` with all problems, in this order. */
function readRequest({ params, query, body, bodyOptional }: Operation, call: Call, sent: unknown) {
  const findings = createFindings()
  const readEach = (part: string, schemas: AnyObject | undefined, given: (name: string) => unknown) =>
    Object.fromEntries(
      Object.entries(schemas?._zod.def.shape ?? {}).flatMap(([name, schema]) => {
        const value = findings.read(schema as z.ZodMiniType, given(name), [part, name])
        return value === undefined ? [] : [[name, value]]
      }),
    )
  const search = (name: string) => {
    const values = call.url.searchParams.getAll(name)
    if (values.length > 0 && notesOf(query!._zod.def.shape[name]!).type === 'array') return values
    // If a parameter is repeated, the last one counts.
    return values.at(-1)
  }
  const input = {
    params: { ...call.params, ...readEach('path', params, (name) => call.params[name]) },
    query: readEach('query', query, search),
    // `null` counts as no body.
    body: body && findings.read(body, sent ?? (bodyOptional ? {} : undefined), ['body']),
  }
  if (findings.problems.length > 0) throw new InvalidRequest(findings.problems)
  return input
}
