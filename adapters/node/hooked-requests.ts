import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'

/** The parts of Fastify's request and reply that are used here. */
interface Routed {
  readonly raw: object
}

export interface HookedRequests<Req> {
  /** The app's request after its hooks, or the response of a hook that refused it. */
  of(raw: IncomingMessage): Promise<Req | Response>
  /** Called by the app's route. True if the request was only routed for `of`. */
  take(request: Req, reply: { readonly raw: { end(): unknown }; hijack(): unknown }): boolean
}

/**
 * Runs an app's hooks for the handshakes of web sockets, which Fastify does not route by itself. Each
 * handshake is routed to the route of its path, with a response that is never sent.
 */
export function hookedRequests<Req extends Routed>(
  routing: (raw: IncomingMessage, response: ServerResponse) => void,
): HookedRequests<Req> {
  const waiting = new WeakMap<object, (request: Req) => void>()
  return {
    of: (raw) =>
      new Promise((resolve) => {
        const response = new ServerResponse(raw)
        response.assignSocket(new Writable({ write: (_chunk, _encoding, done) => done() }) as Socket)
        response.on('finish', () => resolve(new Response(null, { status: response.statusCode })))
        waiting.set(raw, resolve)
        routing(raw, response)
      }),
    take(request, reply) {
      const resolve = waiting.get(request.raw)
      if (!resolve) return false
      waiting.delete(request.raw)
      resolve(request)
      reply.hijack()
      reply.raw.end()
      return true
    },
  }
}
