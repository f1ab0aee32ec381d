import {
  createHandler,
  type EncodeError,
  type HandlerOptions,
  type HttpError,
  json,
  type LaterRows,
  type OnError,
  type Route,
  reportError,
  toHttpError,
  type WebHandler,
} from '../../core/http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { OpenApiDocument } from './document.ts'
import type { Operation } from './route.ts'

export interface ApiOptions
  extends Pick<HandlerOptions, 'authenticate' | 'basePath' | 'maxBodyBytes' | 'onClose'> {
  /** They are loaded with the first request below one of their paths. */
  readonly operations: LaterRows<Operation>
  readonly context: ControlPlaneContext
}

/** Serves operations: their routes, their errors and their OpenAPI document. */
export function createApi({ operations, context, ...options }: ApiOptions): WebHandler {
  return createHandler({
    ...options,
    routes: [
      {
        ...operations,
        async load() {
          const [{ routeOf }, rows] = await Promise.all([import('./answer-row.ts'), operations.load()])
          return rows.map((row) => routeOf(row, context))
        },
      },
      documentRoute(operations),
      pageRoute,
    ],
    parseJson,
    protocolHeaders: { request: ['x-goog-content-length-range', 'x-tenant-id'] },
    encodeError: encodeErrors(context.onError),
    onError: context.onError,
  })
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
  async () => (await import('../page.ts')).deploymentPage(),
  'public',
]

const DOCUMENT = '/openapi.json'

/** The public route of the OpenAPI document. Its code is loaded with the first request. */
function documentRoute(operations: LaterRows<Operation>): Route {
  let known: Promise<OpenApiDocument> | undefined
  async function load() {
    const [{ documentOf }, rows] = await Promise.all([import('./document.ts'), operations.load()])
    return documentOf(rows)
  }
  return [
    'GET',
    DOCUMENT,
    async ({ url: { pathname } }) => {
      const document = await (known ??= load())
      // Where the API is mounted.
      const url = pathname.slice(0, pathname.lastIndexOf(DOCUMENT)) || '/'
      return json({ ...document, servers: [{ url }] })
    },
    'public',
  ]
}
