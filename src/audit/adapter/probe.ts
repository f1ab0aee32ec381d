import { createHandler } from '../../core/http/handler.ts'
import { json } from '../../core/http/respond.ts'
import { encodeSse, SSE_HEADERS, sseResponse } from '../../core/http/sse.ts'
import { createTicker } from '../../core/http/stream.ts'
import type { Call, HandlerContext, WebHandler } from '../../core/http/types.ts'
import { createSources, type Source, type Sources } from './sources.ts'

/** Part of every error that the probe throws. It must not reach a client. */
export const SECRET = 'the-secret-of-the-probe'

/** The response of `/probe/echo`. */
export interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
  readonly bodyIsNull: boolean
  readonly parsedBody: unknown
  readonly parsedType: string
  readonly basePath: string | null
}

interface ProbeRequest {
  readonly request: Request
  readonly context: HandlerContext
  readonly source: Source
}

type Special = (asked: ProbeRequest) => Response | Promise<Response>

/**
 * The handler that adapters are audited with. `/probe/state/:key` returns the state of the streams with that
 * key, so the handler can run in another process than the audits.
 */
export function adapterProbe(): WebHandler {
  const sources = createSources()
  const core = createHandler({
    maxBodyBytes: 1_000_000,
    routes: [
      ['GET', '/', () => json({ at: 'the mount' })],
      ['GET', '/probe/fields', () => json({ ok: true })],
      ['POST', '/probe/fields', async (call) => json({ value: await call.json() })],
      ['GET', '/probe/unsafe', () => sse(encodeSse({ event: 'a\nb', data: 'one\rtwo\r\nthree\nfour' }))],
      ['GET', '/probe/unsafe-id', () => sse(encodeSse({ id: 'a\nb', data: 'x' }))],
      ['GET', '/probe/beating/:key', (call) => events(call, sources, 5)],
      ['GET', '/probe/stuck/:key', (call) => events(call, sources)],
    ],
  })
  // Not async: one of the special routes throws synchronously.
  const handle = (request: Request, context: HandlerContext = {}): Promise<Response | undefined> => {
    const found = /\/probe\/([a-z-]+)(?:\/([^/]*))?$/.exec(new URL(request.url).pathname)
    const special = SPECIALS.get(found?.[1] ?? '')
    if (!special) return core.handle(request, context)
    return Promise.resolve(special({ request, context, source: sources.of(found?.[2] ?? '') }))
  }
  return {
    routes: core.routes,
    handle,
    fetch: (request, context) =>
      handle(request, context).then((response) => response ?? core.fetch(request, context)),
    async close() {
      sources.close()
      await core.close()
    },
  }
}

const fail = (): never => {
  throw new Error(SECRET)
}

const SPECIALS = new Map<string, Special>(
  Object.entries({
    echo,
    state: ({ source }) => json(source.state),
    release: ({ source }) => json(source.release()),
    throw: async () => fail(),
    'throw-at-once': fail,
    'bad-response': () => Response.error(),
    'no-content': () => new Response(null, { status: 204 }),
    cookies,
    'hop-by-hop': () => withHeaders('sent', { connection: 'keep-alive', 'keep-alive': 'timeout=5' }),
    refuse: () => json({ error: 'payload_too_large' }, { status: 413 }),
    'refuse-midway': refuseMidway,
    upload,
    // This source does not use a signal: only cancelling the stream stops it.
    idle: ({ source }) => sse(source.stream({ opening: ': ok\n' })),
    watched,
    'watched-request': watchedRequest,
    'gated-response': gatedResponse,
    'gated-body': ({ source }) => sse(source.stream({ gated: ['data: 1\n\n'] })),
    'gated-event': ({ source }) => sse(source.stream(TWO_EVENTS)),
    compressible: ({ source }) =>
      withHeaders(source.stream(TWO_EVENTS), { 'content-type': 'text/event-stream' }),
    endless: ({ source }) => sse(source.stream({ endless: true })),
    bytes: ({ request, source }) =>
      new Response(source.stream({ bytes: Number(new URL(request.url).searchParams.get('count')) })),
    break: ({ source }) => new Response(source.stream({ opening: 'begun', broken: SECRET })),
    'break-first': ({ source }) => new Response(source.stream({ broken: SECRET })),
  } satisfies Readonly<Record<string, Special>>),
)

const TWO_EVENTS = { opening: 'data: 1\n\n', gated: ['data: 2\n\n'] }

const withHeaders = (body: BodyInit, headers: Readonly<Record<string, string>>): Response =>
  new Response(body, { headers })

async function echo({ request, context: { parsedBody, basePath } }: ProbeRequest): Promise<Response> {
  const { method, url, headers, body } = request
  return json({
    method,
    url,
    headers: [...headers],
    bodyIsNull: body === null,
    text: await request.text(),
    parsedBody,
    parsedType: typeof parsedBody,
    basePath: basePath ?? null,
  } satisfies Echo)
}

function cookies(): Response {
  const headers = new Headers({ 'content-type': 'text/plain' })
  headers.append('set-cookie', 'a=1; Path=/')
  headers.append('set-cookie', 'b=2; Path=/')
  return new Response('cookies', { headers })
}

async function refuseMidway({ request }: ProbeRequest): Promise<Response> {
  const reader = request.body!.getReader()
  await reader.read()
  await reader.cancel()
  return json({ error: 'payload_too_large' }, { status: 413 })
}

async function upload({ request, source }: ProbeRequest): Promise<Response> {
  source.state.started = true
  try {
    const bytes = new Uint8Array(await request.arrayBuffer())
    return json({ length: bytes.byteLength })
  } catch (error) {
    source.state.bodyError = String(error)
    return json({ error: 'incomplete_body' }, { status: 400 })
  }
}

/** Reads the body first. A request whose body has been read closes early, which is not a disconnect. */
async function watched({ request, context, source }: ProbeRequest): Promise<Response> {
  source.request = request
  await request.text()
  const signal = context.signal ?? request.signal
  if (signal.aborted) source.state.aborted++
  else signal.addEventListener('abort', () => source.state.aborted++)
  return sse(source.stream({ opening: ': ok\n', gated: [] }))
}

/** Keeps only a listener on the request's own signal. */
function watchedRequest({ request, source }: ProbeRequest): Response {
  request.signal.addEventListener('abort', () => source.state.aborted++)
  return sse(source.stream({ opening: ': ok\n' }))
}

async function gatedResponse({ source }: ProbeRequest): Promise<Response> {
  source.state.started = true
  await source.gate
  return sse(source.stream({ opening: ': ok\n' }))
}

/** An idle event stream made by `eventStream`, with a heartbeat if `beatMs` is set. */
function events({ params, signal }: Call, sources: Sources, beatMs?: number): Response {
  const source = sources.of(params.key!)
  const ticker = beatMs === undefined ? undefined : createTicker(beatMs)
  source.state.opened++
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const cancel = () => {
    source.state.cancelled++
    end()
  }
  // Returns an event after cancellation: a stream that enqueues it fails.
  const next = async () => {
    await ended
    return encodeSse({ data: 'too late' })
  }
  return sseResponse({ next, cancel }, { signal, ticker })
}

function sse(body: ReadableStream<Uint8Array> | Uint8Array): Response {
  return withHeaders(body as BodyInit, SSE_HEADERS)
}
