/** What must hold, and where it is required or was first seen to fail. */
export interface Requirement {
  readonly behaviour: string
  readonly source: string
}

/** What every adapter between a server and a `WebHandler` has to get right. */
export const requirements = {
  'adapter.methods': {
    behaviour: 'Each method reaches the handler under its own name',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-9',
  },
  'adapter.body.json': {
    behaviour: 'A JSON body reaches the handler whole, whether or not a body parser has read it before',
    source: 'https://github.com/CopilotKit/CopilotKit/issues/6840',
  },
  'adapter.body.text': {
    behaviour:
      'A body that no parser took reaches the handler as it was sent, and `next` is not taken for a parsed body',
    source: 'https://github.com/better-auth/better-call/issues/34',
  },
  'adapter.body.any-type': {
    behaviour: "A JSON request without a body, and a body without a type, are the handler's to judge",
    source: 'https://github.com/mcansh/remix-fastify/issues/244',
  },
  'adapter.body.large': {
    behaviour: "No limit but the handler's own applies to a body",
    source: 'https://github.com/QwikDev/qwik/issues/7344',
  },
  'adapter.body.limit': {
    behaviour:
      "A body over the handler's limit gets the handler's 413, also when its length was not announced",
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.14',
  },
  'adapter.body.get': {
    behaviour: 'A GET has no body for the handler even if one was sent, and the connection stays in step',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-9.3.1',
  },
  'adapter.body.refused': {
    behaviour: 'An upload that is refused unread gets its answer, and the connection does not stall',
    source: 'https://github.com/honojs/node-server/issues/246',
  },
  'adapter.body.refused-midway': {
    behaviour:
      'An upload that is refused after a part was read gets its answer, and the connection does not stall',
    source: 'https://github.com/sveltejs/kit/issues/15526',
  },
  'adapter.body.endless': {
    behaviour: 'A refused upload that goes on and on is cut',
    source: 'https://github.com/honojs/node-server/pull/327',
  },
  'adapter.body.stalled': {
    behaviour: 'A refused upload that stops halfway does not hold the connection',
    source: 'https://github.com/oven-sh/bun/issues/35283',
  },
  'adapter.body.abort': {
    behaviour: 'Reading a body whose client left in the middle fails at once',
    source: 'https://github.com/remix-run/remix/issues/11533',
  },
  'adapter.body.utf8': {
    behaviour: 'A character that is cut in two on the wire arrives whole',
    source: 'https://encoding.spec.whatwg.org/#dom-textdecoderoptions-stream',
  },
  'adapter.headers.repeated': {
    behaviour: 'Repeated request headers are joined',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-5.3',
  },
  'adapter.headers.names': {
    behaviour: 'The pseudo headers of HTTP/2 are no headers, and cookies sent in crumbs are one',
    source: 'https://www.rfc-editor.org/rfc/rfc9113#section-8.2.3',
  },
  'adapter.url.target': {
    behaviour: 'Path and query reach the handler as they were sent, escapes and all',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-3.2.1',
  },
  'adapter.url.host': {
    behaviour: 'A Host header that is no host is refused, and never changes the path',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-3.2',
  },
  'adapter.url.absolute': {
    behaviour: 'A target in absolute form is understood',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2',
  },
  'adapter.url.asterisk': {
    behaviour: '`OPTIONS *` is answered and harms nothing',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-3.2.4',
  },
  'adapter.url.double-slash': {
    behaviour: 'A path that begins with two slashes names no other host',
    source: 'https://www.rfc-editor.org/rfc/rfc3986#section-3.3',
  },
  'adapter.proxy.ignored': {
    behaviour: 'Forwarded headers are ignored unless the host is told to believe them',
    source: 'https://www.rfc-editor.org/rfc/rfc7239#section-8.1',
  },
  'adapter.proxy.trusted': {
    behaviour: 'Where the host trusts its proxy, the URL is the one the client asked for',
    source: 'https://expressjs.com/en/guide/behind-proxies.html',
  },
  'adapter.origin': {
    behaviour: "A page of another origin is told from the server's own",
    source:
      'https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html',
  },
  'adapter.origin.proxy': {
    behaviour:
      "Where the host trusts its proxy, the server's own page is known by the origin that it has there",
    source: 'https://www.rfc-editor.org/rfc/rfc6454#section-7',
  },
  'adapter.mount.base-path': {
    behaviour: 'The mount path is told as the base path, and the URL stays whole',
    source: 'https://expressjs.com/en/api.html#req.baseUrl',
  },
  'adapter.mount.bare': {
    behaviour: 'The mount path itself belongs to the handler, with and without a trailing slash',
    source: 'https://github.com/expressjs/express/issues/6111',
  },
  'adapter.mount.boundary': {
    behaviour: 'A path that only begins like the mount path does not belong to the handler',
    source: 'https://www.rfc-editor.org/rfc/rfc3986#section-3.3',
  },
  'adapter.not-found.mounted': {
    behaviour:
      'Below a mount path, what no route matches goes to the host: its later routes, then its own 404',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5',
  },
  'adapter.not-found.root': {
    behaviour: 'At the root, what no route matches goes to the host: its later routes, then its own 404',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5',
  },
  'adapter.abort.idle': {
    behaviour: 'An idle stream is cancelled when its client leaves, not at the next event',
    source: 'https://github.com/HarperFast/harper/issues/1399',
  },
  'adapter.abort.signal': {
    behaviour: 'The signal fires when the client leaves, also after the body was read',
    source: 'https://github.com/dust-tt/dust/pull/24357',
  },
  'adapter.abort.not-early': {
    behaviour: 'The signal fires neither when the body was read nor when the response is complete',
    source: 'https://github.com/remix-run/remix/issues/10726',
  },
  'adapter.abort.collected': {
    behaviour: 'The signal fires also when the request object was garbage-collected',
    source: 'https://github.com/nodejs/node/issues/55428',
  },
  'adapter.abort.before-response': {
    behaviour: 'A body that comes after the client left is cancelled',
    source: 'https://github.com/remix-run/remix/issues/11431',
  },
  'adapter.abort.pipelined': {
    behaviour: 'A client that leaves is seen by each request it has pipelined',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2',
  },
  'adapter.stream.chunks': {
    behaviour: 'What a stream has given arrives before it gives more',
    source: 'https://html.spec.whatwg.org/multipage/server-sent-events.html',
  },
  'adapter.stream.whole': {
    behaviour: 'A long body arrives whole',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-7.1',
  },
  'adapter.stream.paused': {
    behaviour: 'A reader that stops reading stops the source, and is let go of when it leaves',
    source: 'https://nodejs.org/api/stream.html#writablewritechunk-encoding-callback',
  },
  'adapter.stream.early-headers': {
    behaviour: 'Headers do not wait for the first bytes of the body',
    source: 'https://github.com/honojs/node-server/issues/244',
  },
  'adapter.compression.event-stream': {
    behaviour: 'An event stream is not compressed, and its first event is not held back',
    source: 'https://github.com/expressjs/compression#server-sent-events',
  },
  'adapter.compression.flush': {
    behaviour: 'A stream that does get compressed is not held back',
    source: 'https://github.com/expressjs/compression#resflush',
  },
  'adapter.head': {
    behaviour: 'HEAD sends the headers of GET, pulls nothing and cancels the body',
    source: 'https://github.com/nodejs/node/issues/56697',
  },
  'adapter.options': {
    behaviour: 'OPTIONS is answered by the handler: 204 and the allowed methods',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-9.3.7',
  },
  'adapter.cookies': {
    behaviour: 'Each set-cookie header arrives as its own',
    source: 'https://github.com/vercel/ai/issues/21058',
  },
  'adapter.hop-by-hop': {
    behaviour: 'Headers that belong to one connection do no harm, also over HTTP/2',
    source: 'https://www.rfc-editor.org/rfc/rfc9113#section-8.2.2',
  },
  'adapter.empty': {
    behaviour: 'A response without a body has none',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.3.5',
  },
  'adapter.length': {
    behaviour: 'A JSON response has its length',
    source: 'https://www.rfc-editor.org/rfc/rfc9110#section-8.6',
  },
  'adapter.error.midway': {
    behaviour: 'A stream that breaks does not look complete, and its error is not told',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-8',
  },
  'adapter.error.first': {
    behaviour: 'A stream that breaks before its first byte does not look complete',
    source: 'https://www.rfc-editor.org/rfc/rfc9112#section-8',
  },
  'adapter.error.thrown': {
    behaviour: 'A handler that rejects gets a 500 without details, and the server lives',
    source: 'https://github.com/h3js/srvx/issues/290',
  },
  'adapter.error.thrown-at-once': {
    behaviour:
      'A handler that throws before it gives a promise gets a 500 without details, and the server lives',
    source: 'https://github.com/h3js/srvx/issues/290',
  },
  'adapter.error.bad-response': {
    behaviour: 'A response that cannot be sent becomes a 500',
    source: 'https://fetch.spec.whatwg.org/#dom-response-error',
  },
  'adapter.sse.late-event': {
    behaviour: 'An event that comes after its reader left harms nothing',
    source: 'https://github.com/middleapi/orpc/issues/463',
  },
  'adapter.sse.frames': {
    behaviour: 'Line ends in an event cannot make a field of their own',
    source: 'https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream',
  },
  'adapter.sse.heartbeat': {
    behaviour: 'An idle event stream keeps saying that it lives',
    source: 'https://html.spec.whatwg.org/multipage/server-sent-events.html#authoring-notes',
  },
  'adapter.host-headers': {
    behaviour: 'Headers and cookies that the host has set stay',
    source: 'https://github.com/fastify/fastify/issues/3979',
  },
  'adapter.close': {
    behaviour: 'Open streams end, and the server closes although clients still read',
    source: 'https://nodejs.org/api/http.html#serverclosecallback',
  },
} as const satisfies Record<string, Requirement>

export type RequirementId = keyof typeof requirements
