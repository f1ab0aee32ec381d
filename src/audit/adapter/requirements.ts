import { CSRF, github, rfc, sse } from '../sources.ts'

/** What must hold, and where it is required or was first seen to fail. */
export interface Requirement {
  readonly behaviour: string
  readonly source: string
}

const must = (behaviour: string, source: string): Requirement => ({ behaviour, source })

/** What every adapter between a server and a `WebHandler` has to get right. */
export const requirements = {
  'adapter.methods': must('Each method reaches the handler under its own name', rfc(9110, '9')),
  'adapter.body.json': must(
    'A JSON body reaches the handler whole, whether or not a body parser has read it before',
    github('CopilotKit/CopilotKit/issues/6840'),
  ),
  'adapter.body.text': must(
    'A body that no parser took reaches the handler as it was sent, and `next` is not taken for a parsed body',
    github('better-auth/better-call/issues/34'),
  ),
  'adapter.body.any-type': must(
    "A JSON request without a body, and a body without a type, are the handler's to judge",
    github('mcansh/remix-fastify/issues/244'),
  ),
  'adapter.body.large': must(
    "No limit but the handler's own applies to a body",
    github('QwikDev/qwik/issues/7344'),
  ),
  'adapter.body.limit': must(
    "A body over the handler's limit gets the handler's 413, also when its length was not announced",
    rfc(9110, '15.5.14'),
  ),
  'adapter.body.get': must(
    'A GET has no body for the handler even if one was sent, and the connection stays in step',
    rfc(9110, '9.3.1'),
  ),
  'adapter.body.refused': must(
    'An upload that is refused unread gets its answer, and the connection does not stall',
    github('honojs/node-server/issues/246'),
  ),
  'adapter.body.refused-midway': must(
    'An upload that is refused after a part was read gets its answer, and the connection does not stall',
    github('sveltejs/kit/issues/15526'),
  ),
  'adapter.body.endless': must(
    'A refused upload that goes on and on is cut',
    github('honojs/node-server/pull/327'),
  ),
  'adapter.body.stalled': must(
    'A refused upload that stops halfway does not hold the connection',
    github('oven-sh/bun/issues/35283'),
  ),
  'adapter.body.abort': must(
    'Reading a body whose client left in the middle fails at once',
    github('remix-run/remix/issues/11533'),
  ),
  'adapter.body.utf8': must(
    'A character that is cut in two on the wire arrives whole',
    'https://encoding.spec.whatwg.org/#dom-textdecoderoptions-stream',
  ),
  'adapter.headers.repeated': must('Repeated request headers are joined', rfc(9110, '5.3')),
  'adapter.headers.names': must(
    'The pseudo headers of HTTP/2 are no headers, and cookies sent in crumbs are one',
    rfc(9113, '8.2.3'),
  ),
  'adapter.url.target': must(
    'Path and query reach the handler as they were sent, escapes and all',
    rfc(9112, '3.2.1'),
  ),
  'adapter.url.host': must(
    'A Host header that is no host is refused, and never changes the path',
    rfc(9112, '3.2'),
  ),
  'adapter.url.absolute': must('A target in absolute form is understood', rfc(9112, '3.2.2')),
  'adapter.url.asterisk': must('`OPTIONS *` is answered and harms nothing', rfc(9112, '3.2.4')),
  'adapter.url.double-slash': must(
    'A path that begins with two slashes names no other host',
    rfc(3986, '3.3'),
  ),
  'adapter.proxy.ignored': must(
    'Forwarded headers are ignored unless the host is told to believe them',
    rfc(7239, '8.1'),
  ),
  'adapter.proxy.trusted': must(
    'Where the host trusts its proxy, the URL is the one the client asked for',
    'https://expressjs.com/en/guide/behind-proxies.html',
  ),
  'adapter.origin': must("A page of another origin is told from the server's own", CSRF),
  'adapter.origin.proxy': must(
    "Where the host trusts its proxy, the server's own page is known by the origin that it has there",
    rfc(6454, '7'),
  ),
  'adapter.mount.base-path': must(
    'The mount path is told as the base path, and the URL stays whole',
    'https://expressjs.com/en/api.html#req.baseUrl',
  ),
  'adapter.mount.bare': must(
    'The mount path itself belongs to the handler, with and without a trailing slash',
    github('expressjs/express/issues/6111'),
  ),
  'adapter.mount.boundary': must(
    'A path that only begins like the mount path does not belong to the handler',
    rfc(3986, '3.3'),
  ),
  'adapter.not-found.mounted': must(
    'Below a mount path, what no route matches goes to the host: its later routes, then its own 404',
    rfc(9110, '15.5.5'),
  ),
  'adapter.not-found.root': must(
    'At the root, what no route matches goes to the host: its later routes, then its own 404',
    rfc(9110, '15.5.5'),
  ),
  'adapter.abort.idle': must(
    'An idle stream is cancelled when its client leaves, not at the next event',
    github('HarperFast/harper/issues/1399'),
  ),
  'adapter.abort.signal': must(
    'The signal fires when the client leaves, also after the body was read',
    github('dust-tt/dust/pull/24357'),
  ),
  'adapter.abort.not-early': must(
    'The signal fires neither when the body was read nor when the response is complete',
    github('remix-run/remix/issues/10726'),
  ),
  'adapter.abort.collected': must(
    'The signal fires also when the request object was garbage-collected',
    github('nodejs/node/issues/55428'),
  ),
  'adapter.abort.before-response': must(
    'A body that comes after the client left is cancelled',
    github('remix-run/remix/issues/11431'),
  ),
  'adapter.abort.pipelined': must(
    'A client that leaves is seen by each request it has pipelined',
    rfc(9112, '9.3.2'),
  ),
  'adapter.stream.chunks': must('What a stream has given arrives before it gives more', sse()),
  'adapter.stream.whole': must('A long body arrives whole', rfc(9112, '7.1')),
  'adapter.stream.paused': must(
    'A reader that stops reading stops the source, and is let go of when it leaves',
    'https://nodejs.org/api/stream.html#writablewritechunk-encoding-callback',
  ),
  'adapter.stream.early-headers': must(
    'Headers do not wait for the first bytes of the body',
    github('honojs/node-server/issues/244'),
  ),
  'adapter.compression.event-stream': must(
    'An event stream is not compressed, and its first event is not held back',
    'https://github.com/expressjs/compression#server-sent-events',
  ),
  'adapter.compression.flush': must(
    'A stream that does get compressed is not held back',
    'https://github.com/expressjs/compression#resflush',
  ),
  'adapter.head': must(
    'HEAD sends the headers of GET, pulls nothing and cancels the body',
    github('nodejs/node/issues/56697'),
  ),
  'adapter.options': must(
    'OPTIONS is answered by the handler: 204 and the allowed methods',
    rfc(9110, '9.3.7'),
  ),
  'adapter.cookies': must('Each set-cookie header arrives as its own', github('vercel/ai/issues/21058')),
  'adapter.hop-by-hop': must(
    'Headers that belong to one connection do no harm, also over HTTP/2',
    rfc(9113, '8.2.2'),
  ),
  'adapter.empty': must('A response without a body has none', rfc(9110, '15.3.5')),
  'adapter.length': must('A JSON response has its length', rfc(9110, '8.6')),
  'adapter.error.midway': must(
    'A stream that breaks does not look complete, and its error is not told',
    rfc(9112, '8'),
  ),
  'adapter.error.first': must(
    'A stream that breaks before its first byte does not look complete',
    rfc(9112, '8'),
  ),
  'adapter.error.thrown': must(
    'A handler that rejects gets a 500 without details, and the server lives',
    github('h3js/srvx/issues/290'),
  ),
  'adapter.error.thrown-at-once': must(
    'A handler that throws before it gives a promise gets a 500 without details, and the server lives',
    github('h3js/srvx/issues/290'),
  ),
  'adapter.error.bad-response': must(
    'A response that cannot be sent becomes a 500',
    'https://fetch.spec.whatwg.org/#dom-response-error',
  ),
  'adapter.sse.late-event': must(
    'An event that comes after its reader left harms nothing',
    github('middleapi/orpc/issues/463'),
  ),
  'adapter.sse.frames': must(
    'Line ends in an event cannot make a field of their own',
    sse('parsing-an-event-stream'),
  ),
  'adapter.sse.heartbeat': must('An idle event stream keeps saying that it lives', sse('authoring-notes')),
  'adapter.host-headers': must(
    'Headers and cookies that the host has set stay',
    github('fastify/fastify/issues/3979'),
  ),
  'adapter.close': must(
    'Open streams end, and the server closes although clients still read',
    'https://nodejs.org/api/http.html#serverclosecallback',
  ),
} satisfies Record<string, Requirement>

export type RequirementId = keyof typeof requirements
