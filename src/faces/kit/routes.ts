import type { Call, Endpoint, Method, OnError, Route, RouteKind } from '../../core/http/index.ts'
import { warnOpen } from '../../core/http/warn-open.ts'
import { lazy } from '../../core/lazy.ts'
import { type AgentEngine, internalsOf } from '../../engine/index.ts'
import { type Authorize, permit, type ThreadAction, type ThreadResource } from './access.ts'
import { asking } from './asking.ts'
import { threadIdOf } from './ids.ts'

/** What the endpoints of every face get. */
export interface FaceContext {
  readonly engine: AgentEngine
  readonly authorize: Authorize | undefined
  /** Called with errors that are the server's fault, with the id that was sent to the client. */
  readonly onError: OnError | undefined
}

/** A call about one thread. `threadId` is empty for routes without one. */
export interface FaceCall extends Call {
  readonly threadId: string
}

/** Answers one request of a face. */
export type FaceEndpoint<Context extends FaceContext> = (
  context: Context,
  call: FaceCall,
) => Promise<Response>

/**
 * An endpoint whose code is loaded on its first call, because many servers never call it. Mark each use as
 * pure, so that bundlers can drop an unused table.
 */
export function onDemand<Context extends FaceContext>(
  load: () => Promise<FaceEndpoint<Context>>,
): FaceEndpoint<Context> {
  const loaded = lazy(load)
  return async (context, call) => (await loaded())(context, call)
}

/**
 * A row of a face's route table. The permission `action` is checked before anything is read. It is null if
 * the endpoint checks a permission itself, because it depends on the body, and `public` if anyone can call
 * the route without credentials. `resourceOf` returns the resource if the path does not contain it. The
 * method `SOCKET` is the handshake of a web socket.
 */
export type FaceRoute<Context extends FaceContext> = readonly [
  method: Method | 'SOCKET',
  pattern: string,
  action: ThreadAction | 'public' | null,
  endpoint: FaceEndpoint<Context>,
  resourceOf?: (context: Context, call: Call) => Promise<ThreadResource>,
]

export const guardRoutes = <Context extends FaceContext>(
  context: Context,
  routes: readonly FaceRoute<Context>[],
  onRequest?: () => void,
): readonly Route[] =>
  routes.map((route) => {
    const [method, pattern, action] = route
    const kind: RouteKind | undefined =
      method === 'SOCKET' ? 'socket' : action === 'public' ? 'public' : undefined
    return [method === 'SOCKET' ? 'GET' : method, pattern, guarded(context, route, onRequest), kind]
  })

function guarded<Context extends FaceContext>(
  whole: Context,
  [method, pattern, action, endpoint, resourceOf]: FaceRoute<Context>,
  onRequest: (() => void) | undefined,
): Endpoint {
  const isOfThread = pattern.includes('/:thread_id')
  return async (call) => {
    onRequest?.()
    if (action !== 'public' && call.principal === null) warnOpen()
    // Every message over a socket is a call of its own: see `asking`.
    const context = method === 'SOCKET' ? whole : asking(whole, call)
    const threadId = isOfThread ? threadIdOf(call.params.thread_id) : ''
    let permitted = call
    if (action !== null && action !== 'public' && context.authorize) {
      const resource = resourceOf ? await resourceOf(context, call) : isOfThread ? { threadId } : {}
      permitted = await permit(context.authorize, call, action, resource, call.json)
    }
    const response = await endpoint(context, { ...permitted, threadId })
    const work = internalsOf(context.engine).working(threadId)
    if (work) call.waitUntil(work)
    return response
  }
}
