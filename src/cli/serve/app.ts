import {
  type Authenticate,
  errorResponse,
  type HandlerContext,
  identify,
  isResponse,
  type Principal,
  socketOf,
  stripBase,
  type WebHandler,
  withBearer,
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

/** The part of a Hono app that is used. Its package is the project's own. */
interface HonoLike extends AppLike {
  readonly routes: readonly unknown[]
  readonly getPath: unknown
  route(path: string, app: HonoLike): HonoLike
  all(path: string, answer: (context: HonoContext) => Promise<Response>): HonoLike
}

interface HonoContext {
  readonly env: object
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> }
}

/** One request on its way through the app. */
interface Passage {
  readonly context: HandlerContext
  /** The handler's response, once the app has let the request through. */
  answer?: Response
}

const PASSAGE = Symbol('agentwire.passage')

export const isHono = (app: AppLike): app is HonoLike =>
  Array.isArray((app as Partial<HonoLike>).routes) && typeof (app as Partial<HonoLike>).route === 'function'

/** A handler behind the routes and middleware of an app, which may respond first or change the response. */
export function aroundHono(
  handler: WebHandler,
  app: HonoLike,
  { prefix, authenticate }: AppOptions,
): WebHandler {
  const Hono = app.constructor as new (options: { readonly getPath: unknown }) => HonoLike
  // A second app, because the project's own responds to unknown paths, which the handler should do.
  const both = new Hono({ getPath: app.getPath }).route('/', app).all('*', async ({ env, req }) => {
    const passage = (env as { readonly [PASSAGE]: Passage })[PASSAGE]
    const request = withPrefix(await unread(req), prefix)
    passage.answer = await handler.fetch(request, passage.context)
    return passage.answer
  })

  const fetch = async (request: Request, context: HandlerContext = {}): Promise<Response> => {
    if (stripBase(new URL(request.url).pathname, prefix) === undefined) return handler.fetch(request, context)
    const caller = await callerOf(withBearer(request), context, authenticate)
    // Some of the handler's routes, such as /ok, need no authentication.
    if (isResponse(caller)) return (await handler.handle(request, context)) ?? caller
    const passage: Passage = { context: caller === null ? context : { ...context, principal: caller } }
    const response = await both.fetch(withoutPrefix(request, prefix), { [PASSAGE]: passage })
    const { answer } = passage
    // Middleware that sets headers copies the response, and the copy has no web socket session.
    return answer && socketOf(answer) && response.status === answer.status ? answer : response
  }

  return { ...handler, fetch, handle: fetch }
}

/** The request of a context, with its body restored if middleware has read it. */
const unread = async (req: HonoContext['req']): Promise<Request> =>
  req.raw.bodyUsed ? new Request(req.raw, { body: await req.arrayBuffer() }) : req.raw

function withPrefix(request: Request, prefix: string): Request {
  if (prefix === '') return request
  const url = new URL(request.url)
  url.pathname = prefix + url.pathname
  return new Request(url, request)
}
