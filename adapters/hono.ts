import { type Context, type Env, Hono } from 'hono'
import { basePath, routePath } from 'hono/route'
import type { HandlerContext, WebHandler } from '../src/core/http/types.ts'
import { checkOptions, type OptionTable } from '../src/core/options.ts'
import { identifying, type PrincipalOf } from './principal.ts'
import { withoutBody } from './without-body.ts'

export type { PrincipalOf } from './principal.ts'

export interface HonoOptions<E extends Env = Env> {
  /**
   * Says who sent a request, by what earlier middleware has set, such as `(c) => c.get('user')`, instead of
   * the server's `authenticate`. Null or undefined is 401. Default: `authenticate` decides.
   */
  readonly principal?: PrincipalOf<Context<E>> | undefined
}

const HONO_OPTIONS: OptionTable<HonoOptions> = { principal: 'function' }

/**
 * A Hono app to mount: `app.route('/agent', toHono(handler))` makes `/agent` the base path. A path without a
 * route falls through to the rest of the app. On Workers, `request.signal` needs the flag
 * `enable_request_signal`; streams work without it. `@hono/node-server` sends the message of an error that
 * breaks a stream to the client.
 */
export function toHono<E extends Env = Env>(handler: WebHandler, options: HonoOptions<E> = {}): Hono {
  if (typeof handler?.handle !== 'function') throw new TypeError('toHono takes an agent server.')
  checkOptions('toHono', options, HONO_OPTIONS)
  const callerOf = identifying(handler, options.principal)
  return new Hono().all('*', async (c, next) => {
    const mount = mountOf(c)
    const request = await readableRequest(c)
    const context: HandlerContext = {
      authenticate: callerOf(c as never),
      basePath: mount === '' ? undefined : mount,
      waitUntil: waitUntil(c),
      ...upgrade(c),
    }
    const response = await handler.handle(request, context)
    if (response) return request.method === 'HEAD' ? withoutBody(response) : response
    await next()
  })
}

/** The mount path with its parameters filled in. Hono 4.8's `basePath` omits nested routers. */
function mountOf(c: Context): string {
  const route = routePath(c).replace(/(?<!\/)\/*\*$/, '')
  if (route.includes('{')) return basePath(c).replace(/(?<!\/)\/+$/, '')
  return c.req.path.split('/', route.split('/').length).join('/')
}

/**
 * The request with a readable body. It is rebuilt only if the body was read, because rebuilding loses the
 * request's stream and signal.
 */
async function readableRequest(c: Context): Promise<Request> {
  const { raw } = c.req
  if (!raw.bodyUsed) return raw
  const { method, headers, signal } = raw
  return new Request(raw.url, { method, headers, signal, body: await c.req.arrayBuffer() })
}

/** Bun's `Server`, which upgrades to web sockets, is the environment or its `server`. */
function upgrade({ env }: Context): Pick<HandlerContext, 'upgrade'> | undefined {
  if (!('Bun' in globalThis)) return undefined
  const server: HandlerContext | undefined = env?.server ?? env
  return server?.upgrade && { upgrade: (request, options) => server.upgrade!(request, options) }
}

function waitUntil(c: Context): ((work: Promise<unknown>) => void) | undefined {
  try {
    const { executionCtx } = c
    return (work) => executionCtx.waitUntil(work)
  } catch {
    return undefined // Hono throws if the runtime has no execution context.
  }
}
