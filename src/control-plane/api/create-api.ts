import type * as z from 'zod/mini'
import {
  type Call,
  createHandler,
  type EncodeError,
  empty,
  type HandlerOptions,
  type HttpError,
  isJsonType,
  isResponse,
  json,
  type OnError,
  type Route,
  reportError,
  toHttpError,
  type WebHandler,
} from '../../core/http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import { notesOf } from '../wire/common.ts'
import { createFindings } from '../wire/problems.ts'
import { validated } from './conditional.ts'
import type { OpenApiDocument } from './document.ts'
import type { AnyObject, Operation, Reply } from './route.ts'

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

/**
 * Encodes every error as `{ "detail": … }`: a list of problems for 422, otherwise a string. From status 500
 * on, it has the `id` that `onError` received.
 */
const encodeErrors =
  (onError: OnError | undefined): EncodeError =>
  (error, call, origin) => {
    if (error instanceof InvalidRequest) return json({ detail: error.problems }, { status: 422 })
    const known = toHttpError(error)
    const { status, headers } = known
    const detail = detailOf(known, call === undefined)
    if (status < 500) return json({ detail }, { status, headers })
    const id = reportError(error, onError, origin)
    return json({ detail, id }, { status, headers })
  }

/** FastAPI's own text, if it has one. */
function detailOf({ status, code, message }: HttpError, isUnrouted: boolean): string {
  if (status === 404 && isUnrouted) return 'Not Found'
  if (code === 'method_not_allowed') return 'Method Not Allowed'
  if (code === 'invalid_encoding') return 'There was an error parsing the body'
  if (code === 'internal_error') return 'Internal Server Error'
  return message
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

/** The value of a JSON text. Throws `InvalidRequest` for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The runtime's own message may quote the body, including a secret.
    const ctx = { error: 'The body is not JSON' }
    throw new InvalidRequest([
      { type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: {}, ctx },
    ])
  }
}

/**
 * The page of a deployment, which the vendor's command-line tools link to. It is the same for all deployments
 * and therefore public: it requests its data from the API with its user's key. Its code is loaded with the
 * first request.
 */
const pageRoute: Route = [
  'GET',
  '/o/:tenant_id/host/deployments/:deployment_id',
  async () => (await import('../page/page.ts')).deploymentPage(),
  'public',
]

const DOCUMENT = '/openapi.json'

/** The public route of the OpenAPI document. Its code is loaded with the first request. */
function documentRoute(operations: readonly Operation[]): Route {
  let known: Promise<OpenApiDocument> | undefined
  return [
    'GET',
    DOCUMENT,
    async ({ url: { pathname } }) => {
      const document = await (known ??= import('./document.ts').then(({ documentOf }) =>
        documentOf(operations),
      ))
      // Where the API is mounted.
      const url = pathname.slice(0, pathname.lastIndexOf(DOCUMENT)) || '/'
      return json({ ...document, servers: [{ url }] })
    },
    'public',
  ]
}
