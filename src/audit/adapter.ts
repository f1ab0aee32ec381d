import { type Check, runCheck } from './adapter/bench.ts'
import { bodyChecks } from './adapter/body-checks.ts'
import { requestChecks } from './adapter/request-checks.ts'
import { responseChecks, streamChecks } from './adapter/response-checks.ts'
import type { AdapterTarget } from './adapter/target.ts'
import { type Audit, CSRF, github, rfc, sse } from './check.ts'

const CHECKS: Readonly<Record<RequirementId, Check>> = {
  ...requestChecks,
  ...bodyChecks,
  ...responseChecks,
  ...streamChecks,
}

/**
 * The requirements of every adapter between a server framework and a `WebHandler`, limited to what applies to
 * `target`. Each audit starts the target, sends requests over its socket, and checks that no stream stays
 * open.
 */
export function adapterAudits(target: AdapterTarget): readonly Audit[] {
  const ids = Object.keys(CHECKS) as RequirementId[]
  return ids
    .filter((id) => CHECKS[id].needs?.every((need) => applies(target, need)) ?? true)
    .map((id) => ({
      id,
      name: requirements[id].behaviour,
      source: requirements[id].source,
      fn: () => runCheck(target, CHECKS[id]),
    }))
}

function applies(target: AdapterTarget, need: NonNullable<Check['needs']>[number]): boolean {
  return need === 'connect' || need === 'collect' ? target[need] !== undefined : target.can.includes(need)
}

/** A required behavior, and the specification or issue it comes from. */
interface Requirement {
  readonly behaviour: string
  readonly source: string
}

const must = (behaviour: string, source: string): Requirement => ({ behaviour, source })

/** The required behavior of every adapter between a server framework and a `WebHandler`. */
export const requirements = {
  'adapter.methods': must('Each HTTP method reaches the handler unchanged', rfc(9110, '9')),
  'adapter.body.json': must(
    'A JSON body reaches the handler complete, whether or not a body parser has read it',
    github('CopilotKit/CopilotKit/issues/6840'),
  ),
  'adapter.body.text': must(
    'A body that no parser has read reaches the handler unchanged, and `next` is not mistaken for a parsed body',
    github('better-auth/better-call/issues/34'),
  ),
  'adapter.body.any-type': must(
    'A JSON request without a body, and a body without a type, reach the handler',
    github('mcansh/remix-fastify/issues/244'),
  ),
  'adapter.body.large': must(
    'Only the handler limits the size of a body',
    github('QwikDev/qwik/issues/7344'),
  ),
  'adapter.body.limit': must(
    "A body over the handler's limit gets the handler's 413, even if it has no Content-Length",
    rfc(9110, '15.5.14'),
  ),
  'adapter.body.get': must(
    'A GET has no body for the handler even if the client sends one, and the connection stays in sync',
    rfc(9110, '9.3.1'),
  ),
  'adapter.body.refused': must(
    'An upload that is rejected unread gets its response, and the connection does not stall',
    github('honojs/node-server/issues/246'),
  ),
  'adapter.body.refused-midway': must(
    'An upload that is rejected after part of it was read gets its response, and the connection does not stall',
    github('sveltejs/kit/issues/15526'),
  ),
  'adapter.body.endless': must(
    'The connection of an endless rejected upload is closed',
    github('honojs/node-server/pull/327'),
  ),
  'adapter.body.stalled': must(
    'A rejected upload that stops halfway does not block the connection',
    github('oven-sh/bun/issues/35283'),
  ),
  'adapter.body.abort': must(
    'Reading a body fails immediately when the client disconnects before its end',
    github('remix-run/remix/issues/11533'),
  ),
  'adapter.body.utf8': must(
    'A character that is split across two chunks arrives intact',
    'https://encoding.spec.whatwg.org/#dom-textdecoderoptions-stream',
  ),
  'adapter.headers.repeated': must('Repeated request headers are joined', rfc(9110, '5.3')),
  'adapter.headers.names': must(
    'The pseudo-headers of HTTP/2 are left out of the headers, and split cookie fields are joined',
    rfc(9113, '8.2.3'),
  ),
  'adapter.url.target': must(
    'Path and query reach the handler as sent, with their percent-encoding',
    rfc(9112, '3.2.1'),
  ),
  'adapter.url.host': must(
    'An invalid Host header is rejected, and never changes the path',
    rfc(9112, '3.2'),
  ),
  'adapter.url.absolute': must('A request target in absolute form is accepted', rfc(9112, '3.2.2')),
  'adapter.url.asterisk': must(
    '`OPTIONS *` gets a response, and the server keeps running',
    rfc(9112, '3.2.4'),
  ),
  'adapter.url.double-slash': must(
    'A path that begins with two slashes does not change the host',
    rfc(3986, '3.3'),
  ),
  'adapter.proxy.ignored': must(
    'Forwarded headers are ignored unless the host trusts its proxy',
    rfc(7239, '8.1'),
  ),
  'adapter.proxy.trusted': must(
    'If the host trusts its proxy, the URL is the one that the client requested',
    'https://expressjs.com/en/guide/behind-proxies.html',
  ),
  'adapter.origin': must("A page of another origin is distinguished from the server's own", CSRF),
  'adapter.origin.proxy': must(
    "If the host trusts its proxy, the server's own page is recognized by its origin at the proxy",
    rfc(6454, '7'),
  ),
  'adapter.mount.base-path': must(
    'The handler gets the mount path as the base path, and the complete URL',
    'https://expressjs.com/en/api.html#req.baseUrl',
  ),
  'adapter.mount.bare': must(
    'The mount path itself belongs to the handler, with and without a trailing slash',
    github('expressjs/express/issues/6111'),
  ),
  'adapter.mount.boundary': must(
    'A path that only shares a prefix with the mount path does not belong to the handler',
    rfc(3986, '3.3'),
  ),
  'adapter.not-found.mounted': must(
    'Below a mount path, a request that matches no route falls through to the host: its later routes, then its own 404',
    rfc(9110, '15.5.5'),
  ),
  'adapter.not-found.root': must(
    'At the root, a request that matches no route falls through to the host: its later routes, then its own 404',
    rfc(9110, '15.5.5'),
  ),
  'adapter.abort.idle': must(
    'An idle stream is cancelled when its client disconnects, not at the next event',
    github('HarperFast/harper/issues/1399'),
  ),
  'adapter.abort.signal': must(
    'The signal fires when the client disconnects, even after the body was read',
    github('dust-tt/dust/pull/24357'),
  ),
  'adapter.abort.not-early': must(
    'The signal does not fire when the body has been read or the response is complete',
    github('remix-run/remix/issues/10726'),
  ),
  'adapter.abort.collected': must(
    'The signal fires even if the request object was garbage-collected',
    github('nodejs/node/issues/55428'),
  ),
  'adapter.abort.before-response': must(
    'A response body that is created after the client has disconnected is cancelled',
    github('remix-run/remix/issues/11431'),
  ),
  'adapter.abort.pipelined': must('A disconnect is reported to each pipelined request', rfc(9112, '9.3.2')),
  'adapter.stream.chunks': must('A chunk arrives before the stream produces the next one', sse()),
  'adapter.stream.whole': must('A long body arrives complete', rfc(9112, '7.1')),
  'adapter.stream.paused': must(
    'A client that stops reading pauses the source, and the source is released when the client disconnects',
    'https://nodejs.org/api/stream.html#writablewritechunk-encoding-callback',
  ),
  'adapter.stream.early-headers': must(
    'Headers are sent before the first bytes of the body',
    github('honojs/node-server/issues/244'),
  ),
  'adapter.compression.event-stream': must(
    'An event stream is not compressed, and its first event is not buffered',
    'https://github.com/expressjs/compression#server-sent-events',
  ),
  'adapter.compression.flush': must(
    'A compressed stream is flushed after each chunk',
    'https://github.com/expressjs/compression#resflush',
  ),
  'adapter.head': must(
    'HEAD sends the headers of GET, reads nothing and cancels the body',
    github('nodejs/node/issues/56697'),
  ),
  'adapter.options': must(
    'The handler responds to OPTIONS with 204 and the allowed methods',
    rfc(9110, '9.3.7'),
  ),
  'adapter.cookies': must('Each set-cookie header arrives separately', github('vercel/ai/issues/21058')),
  'adapter.hop-by-hop': must('Hop-by-hop headers cause no error, including over HTTP/2', rfc(9113, '8.2.2')),
  'adapter.empty': must('A response without a body is sent without one', rfc(9110, '15.3.5')),
  'adapter.length': must('A JSON response has a Content-Length', rfc(9110, '8.6')),
  'adapter.error.midway': must(
    'A stream that fails does not look complete, and does not reveal its error',
    rfc(9112, '8'),
  ),
  'adapter.error.first': must(
    'A stream that fails before its first byte does not look complete',
    rfc(9112, '8'),
  ),
  'adapter.error.thrown': must(
    'If the handler rejects, the response is a 500 without details, and the server keeps running',
    github('h3js/srvx/issues/290'),
  ),
  'adapter.error.thrown-at-once': must(
    'If the handler throws synchronously, the response is a 500 without details, and the server keeps running',
    github('h3js/srvx/issues/290'),
  ),
  'adapter.error.bad-response': must(
    'A response that cannot be sent becomes a 500',
    'https://fetch.spec.whatwg.org/#dom-response-error',
  ),
  'adapter.sse.late-event': must(
    'An event that arrives after its subscriber has disconnected causes no error',
    github('middleapi/orpc/issues/463'),
  ),
  'adapter.sse.frames': must(
    'A line break in an event cannot start a new field',
    sse('parsing-an-event-stream'),
  ),
  'adapter.sse.heartbeat': must('An idle event stream sends heartbeats', sse('authoring-notes')),
  'adapter.host-headers': must(
    'Headers and cookies that the host has set are kept',
    github('fastify/fastify/issues/3979'),
  ),
  'adapter.close': must(
    'Closing ends open streams, and the server closes even if clients are still reading',
    'https://nodejs.org/api/http.html#serverclosecallback',
  ),
} satisfies Record<string, Requirement>

type RequirementId = keyof typeof requirements
