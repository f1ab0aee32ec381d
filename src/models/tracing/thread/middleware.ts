import { concatBytes } from '../../../core/bytes.ts'
import { checkOptions, type OptionTable } from '../../../core/options.ts'
import {
  DEFAULT_MAX_BYTES,
  hasJson,
  parse,
  type ThreadMetadata,
  type ThreadOptions,
  threadMetadata,
  threadOf,
} from './metadata.ts'

export interface ThreadMiddlewareOptions extends ThreadOptions {
  /**
   * Called before the handler of a request that belongs to a thread: `(attributes) =>
   * trace.getActiveSpan()?.setAttributes(attributes)`.
   */
  readonly attach: (attributes: Readonly<Record<string, string>>, threadId: string) => void
}

const OPTIONS: OptionTable<ThreadMiddlewareOptions> = {
  attach: ['required', 'function'],
  vendor: 'string',
  maxBytes: 'number',
}

/** The part of a Node request that the middleware uses, with or without an earlier body parser. */
export interface NodeThreadRequest extends PeekableRequest {
  readonly method?: string | undefined
  readonly body?: unknown
}

/**
 * Middleware for Express 4 and 5, before or after `express.json()`: finds the thread of each request with
 * `threadMetadata`. The body stays readable for later handlers.
 */
export function expressThreadMetadata(
  options: ThreadMiddlewareOptions,
): (req: NodeThreadRequest, res: unknown, next: (error?: unknown) => void) => void {
  checkOptions('expressThreadMetadata', options, OPTIONS)
  return (req, _, next) => {
    findInNode(req, req.body, options)
      .then((found) => attach(found, options))
      .then(() => next(), next)
  }
}

/** The part of a Fastify 5 instance that the plugin uses. */
export interface FastifyThreadInstance {
  addHook(
    name: 'preHandler',
    hook: (request: { readonly body?: unknown; readonly raw: NodeThreadRequest }) => Promise<void>,
  ): unknown
}

/** A Fastify 5 plugin for routes registered after it: `app.register(fastifyThreadMetadata({ attach }))`. */
export function fastifyThreadMetadata(
  options: ThreadMiddlewareOptions,
): (instance: FastifyThreadInstance) => Promise<void> {
  checkOptions('fastifyThreadMetadata', options, OPTIONS)
  const plugin = async (instance: FastifyThreadInstance) => {
    instance.addHook('preHandler', async ({ body, raw }) => {
      attach(await findInNode(raw, body, options), options)
    })
  }
  // The hook must also apply to routes outside this plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

/** The part of a Hono context that the middleware uses. */
export interface HonoThreadContext {
  readonly req: { readonly raw: Request; text(): Promise<string> }
}

/** Middleware for Hono: `app.use(honoThreadMetadata({ attach }))`. */
export function honoThreadMetadata(
  options: ThreadMiddlewareOptions,
): (c: HonoThreadContext, next: () => Promise<void>) => Promise<void> {
  checkOptions('honoThreadMetadata', options, OPTIONS)
  return async ({ req }, next) => {
    const { method, headers, bodyUsed } = req.raw
    const keptByHono = bodyUsed && hasJson(method, (name) => headers.get(name))
    // Hono caches a body that was read with its own methods.
    const found = keptByHono
      ? threadOf(parse(await req.text().catch(() => undefined)), options)
      : await threadMetadata(req.raw, options)
    attach(found, options)
    await next()
  }
}

/** Wraps a route of Next: `export const POST = nextThreadMetadata(handler, { attach })`. */
export function nextThreadMetadata<Incoming extends Request, Rest extends unknown[]>(
  handler: (request: Incoming, ...rest: Rest) => Response | Promise<Response>,
  options: ThreadMiddlewareOptions,
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  checkOptions('nextThreadMetadata', options, OPTIONS)
  return async (request, ...rest) => {
    const found = await threadMetadata(request, options)
    attach(found, options)
    return handler(found.request as Incoming, ...rest)
  }
}

async function findInNode(
  req: NodeThreadRequest,
  body: unknown,
  options: ThreadMiddlewareOptions,
): Promise<ThreadMetadata> {
  if (!hasJson(req.method, (name) => String(req.headers[name] ?? ''))) return threadOf(undefined, options)
  const parsed = body ?? (await peekBody(req, options.maxBytes ?? DEFAULT_MAX_BYTES))
  const text = parsed instanceof Uint8Array ? new TextDecoder().decode(parsed) : parsed
  return threadOf(typeof text === 'string' ? parse(text) : text, options)
}

function attach({ threadId, attributes }: ThreadMetadata, options: ThreadMiddlewareOptions): void {
  if (threadId !== undefined) options.attach(attributes, threadId)
}

/** The part of a Node request that is used to read its body. */
interface PeekableRequest {
  readonly httpVersionMajor: number
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableDidRead: boolean
  readonly readableEnded: boolean
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly on: (event: 'readable' | 'end' | 'error' | 'close', listener: () => void) => unknown
  readonly off: (event: 'readable' | 'end' | 'error' | 'close', listener: () => void) => unknown
  read(): Uint8Array | string | null
  unshift(chunk: Uint8Array): void
}

/**
 * Reads an unread request body and puts it back for the next reader. Undefined if it is longer than
 * `maxBytes`, incomplete, or cannot be put back. What was read is then put back if possible.
 */
function peekBody(req: PeekableRequest, maxBytes: number): Promise<Uint8Array | undefined> {
  const contentLength = req.headers['content-length']
  const expected = contentLength === undefined ? undefined : Number(contentLength)
  // Only HTTP/1 shows that a body of unknown length is complete before `end`, after which it cannot be put
  // back.
  const unknown = expected === undefined && req.httpVersionMajor !== 1
  if (unknown || req.readableDidRead || req.destroyed || (expected ?? 0) > maxBytes)
    return Promise.resolve(undefined)

  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let length = 0

    function settle(whole: boolean): void {
      req.off('readable', readChunks)
      req.off('end', fail)
      req.off('error', fail)
      req.off('close', fail)
      const bytes = concatBytes(chunks)
      if (length > 0 && !req.destroyed && !req.readableEnded) req.unshift(bytes)
      resolve(whole ? bytes : undefined)
    }
    function readChunks(): void {
      let whole = false
      // One more `read` after the last chunk would make the stream emit `end`, and nothing could be put back.
      for (let chunk = req.read(); chunk !== null; chunk = whole || length > maxBytes ? null : req.read()) {
        const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
        chunks.push(bytes)
        length += bytes.byteLength
        whole = length === expected
      }
      if (length > maxBytes) settle(false)
      else if (whole || req.complete) settle(length > 0)
    }
    const fail = () => settle(false)

    req.on('readable', readChunks)
    req.on('end', fail)
    req.on('error', fail)
    req.on('close', fail)
  })
}
