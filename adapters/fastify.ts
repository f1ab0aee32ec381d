import type { OnError } from '../src/core/http/errors.ts'
import { isResponse } from '../src/core/http/handler.ts'
import type { Authenticated, WebHandler } from '../src/core/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../src/core/options.ts'
import { hookedRequests } from './node/hooked-requests.ts'
import { answer } from './node/listener.ts'
import { acceptSockets, type UpgradeServer } from './node/sockets.ts'
import { type Forwarded, header } from './node/target.ts'
import type { NodeRequest, NodeResponse } from './node/types.ts'
import { identifying, type PrincipalOf } from './principal.ts'

export type { PrincipalOf } from './principal.ts'

/** The part of a Fastify request that the adapter uses, over HTTP/1 or HTTP/2. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly protocol: string
  readonly host: string
  readonly log: { error(details: object, message: string): void }
}

/** The part of a Fastify reply that the adapter uses. */
export interface FastifyReply {
  readonly raw: NodeResponse
  getHeaders(): Record<string, number | string | string[] | undefined>
  hijack(): unknown
  callNotFound(): unknown
}

/** The part of a Fastify 5 instance that the adapter uses. */
export interface FastifyInstance {
  readonly prefix: string
  readonly server: UpgradeServer
  readonly initialConfig: object
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    contentType: string,
    parser: (request: never, payload: never, done: (error: Error | null) => void) => void,
  ): unknown
  routing(request: unknown, response: unknown): void
  addHook(name: 'preClose', hook: () => Promise<void>): unknown
  hasRoute(route: { method: string; url: string }): boolean
  route(route: {
    method: string[]
    url: string
    handler: (request: FastifyRequest, reply: FastifyReply) => unknown
  }): unknown
}

export interface FastifyOptions<Req = import('fastify').FastifyRequest> {
  /**
   * Says who sent a request, by the app's own session, such as `({ session }) => session.get('user')`, instead
   * of the server's `authenticate`. Null or undefined is 401. The handshake of a web socket runs the app's
   * hooks first. Default: `authenticate` decides.
   */
  readonly principal?: PrincipalOf<Req> | undefined
  /** Called for errors that the handler does not answer. Default: logs them with the request's logger. */
  readonly onError?: OnError | undefined
}

const FASTIFY_OPTIONS: OptionTable<FastifyOptions> = { principal: 'function', onError: 'function' }

export type FastifyPlugin = (instance: FastifyInstance) => Promise<void>

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * A plugin for Fastify 5: `app.register(toFastify(handler), { prefix: '/agent' })`. The prefix is the base
 * path. A path without a route goes to the app's not-found handler. The handler reads request bodies and
 * applies its own limits. Earlier hooks run, and the headers they set are sent; `onSend` does not run. Web
 * sockets need the package `ws`, and bypass the hooks unless `principal` asks for their request. Closing the app closes the handler first, so that open
 * streams do not block it.
 */
export function toFastify<Req = import('fastify').FastifyRequest>(
  handler: WebHandler,
  options: FastifyOptions<Req> = {},
): FastifyPlugin {
  checkHandler('toFastify', handler)
  checkOptions('toFastify', options, FASTIFY_OPTIONS)
  const { principal, onError } = options
  const callerOf = identifying(handler, principal)
  return async (instance) => {
    const { prefix } = instance
    const mounted = prefix !== '' && prefix !== '/'

    const hooked = hookedRequests<FastifyRequest>((raw, response) => instance.routing(raw, response))
    const callerOfSocket = async (raw: Parameters<typeof hooked.of>[0]): Promise<Authenticated> => {
      const request = await hooked.of(raw)
      return isResponse(request) ? request : principal!(request as Req)
    }
    const serve = (request: FastifyRequest, reply: FastifyReply): void => {
      if (principal && hooked.take(request, reply)) return
      answer(request.raw, reply.raw, {
        authenticate: callerOf(request as Req),
        handle: handler.handle,
        basePath: mounted ? prefix : undefined,
        forwarded: forwarded(request),
        onError: onError ?? ((error, { id }) => request.log.error({ err: error, id }, 'a request failed')),
        next: () => reply.callNotFound(),
        takeOver() {
          reply.hijack()
          for (const [name, value] of Object.entries(reply.getHeaders())) {
            if (value !== undefined) reply.raw.setHeader(name, Array.isArray(value) ? value : String(value))
          }
        },
      })
    }

    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', (_request, _payload, done) => done(null))
    const { trustProxy } = instance.initialConfig as { readonly trustProxy?: unknown }
    const cutSockets = acceptSockets(instance.server, handler, {
      principal: principal && callerOfSocket,
      basePath: mounted ? prefix : undefined,
      trustProxy: Boolean(trustProxy),
      onError,
    })
    instance.addHook('preClose', async () => {
      await handler.close()
      cutSockets()
    })
    for (const url of mounted ? ['/', '/*'] : ['/*']) {
      // `@fastify/cors` may already have registered an OPTIONS route for every path.
      const method = METHODS.filter((name) => !instance.hasRoute({ method: name, url: prefix + url }))
      instance.route({ method, url, handler: serve })
    }
  }
}

/** Fastify decides which proxies to trust. If it trusts none, the bridge determines the host. */
function forwarded({ protocol, host, raw }: FastifyRequest): Forwarded {
  const own = header(raw, ':authority') ?? header(raw, 'host') ?? ''
  return { protocol, host: host === own ? undefined : host }
}
