import type { OnError } from '../src/http/errors.ts'
import type { WebHandler } from '../src/http/types.ts'
import { checkOptions, type OptionTable } from '../src/options.ts'
import { answer } from './node/listener.ts'
import { acceptSockets, type UpgradeServer } from './node/sockets.ts'
import { type Forwarded, header } from './node/target.ts'
import type { NodeRequest, NodeResponse } from './node/types.ts'

/** What we use of a Fastify request, over HTTP/1 or HTTP/2. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly protocol: string
  readonly host: string
  readonly log: { error(details: object, message: string): void }
}

/** What we use of a Fastify reply. */
export interface FastifyReply {
  readonly raw: NodeResponse
  getHeaders(): Record<string, number | string | string[] | undefined>
  hijack(): unknown
  callNotFound(): unknown
}

/** What we use of a Fastify 5 instance. */
export interface FastifyInstance {
  readonly prefix: string
  readonly server: UpgradeServer
  readonly initialConfig: object
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    contentType: string,
    parser: (request: never, payload: never, done: (error: Error | null) => void) => void,
  ): unknown
  addHook(name: 'preClose', hook: () => Promise<void>): unknown
  hasRoute(route: { method: string; url: string }): boolean
  route(route: {
    method: string[]
    url: string
    handler: (request: FastifyRequest, reply: FastifyReply) => unknown
  }): unknown
}

export interface FastifyOptions {
  /** Called with failures that the handler does not answer itself. Default: the request's log. */
  readonly onError?: OnError | undefined
}

const FASTIFY_OPTIONS: OptionTable<FastifyOptions> = { onError: 'function' }

export type FastifyPlugin = (instance: FastifyInstance) => Promise<void>

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * A plugin for Fastify 5: `app.register(toFastify(handler), { prefix: '/agent' })`. The prefix is the base
 * path. A path without a route goes to the app's not-found handler. The handler reads bodies, within its own
 * limits. Earlier hooks run, and headers they set are sent; `onSend` does not run. Web sockets, which need
 * the package `ws`, bypass the hooks. Closing the app closes the handler first, so that open streams do not
 * block it.
 */
export function toFastify(handler: WebHandler, options: FastifyOptions = {}): FastifyPlugin {
  checkOptions('toFastify', options, FASTIFY_OPTIONS)
  const { onError } = options
  return async (instance) => {
    const { prefix } = instance
    const mounted = prefix !== '' && prefix !== '/'

    const serve = (request: FastifyRequest, reply: FastifyReply): void => {
      answer(request.raw, reply.raw, {
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
      basePath: mounted ? prefix : undefined,
      trustProxy: Boolean(trustProxy),
      onError,
    })
    instance.addHook('preClose', async () => {
      await handler.close()
      cutSockets()
    })
    for (const url of mounted ? ['/', '/*'] : ['/*']) {
      // `@fastify/cors` may already have registered a route for every OPTIONS.
      const method = METHODS.filter((name) => !instance.hasRoute({ method: name, url: prefix + url }))
      instance.route({ method, url, handler: serve })
    }
  }
}

/** Fastify decides which proxies to trust. Without any, the bridge finds the host. */
function forwarded({ protocol, host, raw }: FastifyRequest): Forwarded {
  const own = header(raw, ':authority') ?? header(raw, 'host') ?? ''
  return { protocol, host: host === own ? undefined : host }
}
