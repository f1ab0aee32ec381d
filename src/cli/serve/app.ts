import {
  type Authenticate,
  errorResponse,
  type HandlerContext,
  identify,
  isResponse,
  type Principal,
  stripBase,
  type WebHandler,
} from '../../core/http/index.ts'
import { ConfigError } from './config-reader.ts'

/** An app that a project serves in addition to its agents: a Hono app, or anything else with `fetch`. */
export interface AppLike {
  fetch(request: Request, env?: object): Response | Promise<Response>
}

export interface AppOptions {
  readonly prefix: string
  /** Authenticates the app's callers. Undefined: anyone may call it. */
  readonly authenticate: Authenticate | undefined
}

/** Throws `ConfigError` for anything without `fetch`. */
export function appOf(value: unknown, where: string): AppLike {
  if (typeof (value as AppLike | null)?.fetch === 'function') return value as AppLike
  throw new ConfigError(`${where} must have a fetch method, as Hono apps and other Web handlers do.`)
}

/** The app as the last of several handlers: it serves the paths below the prefix that the others do not. */
export function appHandler(app: AppLike, { prefix, authenticate }: AppOptions): WebHandler {
  const fetch = async (request: Request, context: HandlerContext = {}): Promise<Response> => {
    const caller = await callerOf(request, context, authenticate)
    return isResponse(caller) ? caller : app.fetch(withoutPrefix(request, prefix))
  }
  return {
    fetch,
    handle: async (request, context) =>
      stripBase(new URL(request.url).pathname, prefix) === undefined ? undefined : fetch(request, context),
    routes: async () => [],
    close: async () => {},
  }
}

/** The app's caller, or the response that rejects it. */
export async function callerOf(
  request: Request,
  context: HandlerContext,
  authenticate: Authenticate | undefined,
): Promise<Principal | Response | null> {
  try {
    return await identify(request, context, authenticate)
  } catch (error) {
    return errorResponse(error)
  }
}

export function withoutPrefix(request: Request, prefix: string): Request {
  if (prefix === '') return request
  const url = new URL(request.url)
  url.pathname = url.pathname.slice(prefix.length)
  return new Request(url, request)
}
