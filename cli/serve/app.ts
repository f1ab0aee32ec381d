import {
  type Authenticate,
  errorResponse,
  HttpError,
  stripBase,
  type WebHandler,
} from '../../src/http/index.ts'
import { ConfigError } from './config-reader.ts'

/** An app that a project serves beside its agents: one of Hono, or anything else with `fetch`. */
export interface AppLike {
  fetch(request: Request): Response | Promise<Response>
}

/** Throws `ConfigError` for anything without `fetch`. */
export function appOf(value: unknown, where: string): AppLike {
  if (typeof (value as AppLike | null)?.fetch === 'function') return value as AppLike
  throw new ConfigError(`${where} has no method fetch, as apps of Hono and other Web handlers have.`)
}

/** The app as the last of several handlers: it answers every path below the prefix that none before it has answered. */
export function appHandler(
  app: AppLike,
  { prefix, authenticate }: { readonly prefix: string; readonly authenticate: Authenticate | undefined },
): WebHandler {
  const fetch = async (request: Request): Promise<Response> => {
    const caller = authenticate ? await authenticate(request) : undefined
    if (caller === null)
      return errorResponse(new HttpError(401, 'unauthorized', 'This request needs valid credentials.'))
    if (Object.prototype.toString.call(caller) === '[object Response]') return caller as Response
    return app.fetch(withoutPrefix(request, prefix))
  }
  return {
    fetch,
    handle: async (request) =>
      stripBase(new URL(request.url).pathname, prefix) === undefined ? undefined : fetch(request),
    routes: [],
    close: async () => {},
  }
}

function withoutPrefix(request: Request, prefix: string): Request {
  if (prefix === '') return request
  const url = new URL(request.url)
  url.pathname = url.pathname.slice(prefix.length)
  return new Request(url, request)
}
