import { HttpError } from '../errors.ts'
import { json } from '../respond.ts'

/** A web socket, as its session sees it. */
export interface SocketPeer {
  /**
   * Sends complete text frames (RFC 6455, §5), which all sockets of the server share. Returns false if they
   * are buffered: the session then waits for `drain`.
   */
  send(frames: Uint8Array): boolean
  /** Closes the socket with a close code (RFC 6455, §7.4). */
  close(code: number, reason: string): void
}

/** A handler's side of a web socket. An adapter binds it to a socket of its host. No method throws. */
export interface SocketSession {
  /** The `Sec-WebSocket-Protocol` of the handshake response. */
  readonly protocol: string | undefined
  /** In bytes. A socket that receives a longer message is closed with 1009. */
  readonly maxMessageBytes: number
  /** Called once, before any other method. */
  open(peer: SocketPeer): void
  message(data: string | Uint8Array): void
  /** The buffered frames of `send` were written. */
  drain(): void
  /** The socket was closed, from either side. */
  close(): void
}

// A symbol property, like the body of a response: wrappers of a handler pass the response on unchanged.
const SESSION = /* @__PURE__ */ Symbol.for('agentwire.socket')

/**
 * The response to an accepted handshake. An adapter that can switch to a web socket binds the session; any
 * other host sends the response as 426.
 */
export function socketResponse(session: SocketSession): Response {
  const message =
    'This host does not support web sockets. Use server-sent events: POST the filter to the same path.'
  const response = json(
    { error: 'upgrade_required', message },
    { status: 426, headers: { upgrade: 'websocket' } },
  )
  return Object.defineProperty(response, SESSION, { value: session })
}

/** The session of a response to an accepted handshake. */
export const socketOf = (response: Response): SocketSession | undefined =>
  (response as { readonly [SESSION]?: SocketSession })[SESSION]

/** Whether a request is the handshake of a web socket (RFC 6455, §4.1). */
export const isHandshake = ({ method, headers }: Request): boolean =>
  method === 'GET' && headers.get('upgrade')?.toLowerCase() === 'websocket'

/**
 * The prefix of the subprotocol in which a browser sends a token, because its web sockets cannot send other
 * headers.
 */
const BEARER = 'bearer.'

/** The subprotocols that a handshake offers, in order. */
const offered = ({ headers }: Request): readonly string[] =>
  headers
    .get('sec-websocket-protocol')
    ?.split(',')
    .map((name) => name.trim()) ?? []

/**
 * The subprotocol to answer with: a browser closes the connection if the server selects none of those it
 * offered.
 */
export function chosenProtocol(request: Request): string | undefined {
  const names = offered(request)
  return names.find((name) => !name.startsWith(BEARER)) ?? names[0]
}

/**
 * A handshake with the token of its subprotocol `bearer.<token>`, percent-encoded, as its `Authorization`.
 * Other requests are not changed. Throws `HttpError` 400 for a token that a header cannot contain.
 */
export function withBearer(request: Request): Request {
  if (!isHandshake(request) || request.headers.has('authorization')) return request
  const offer = offered(request).find((name) => name.startsWith(BEARER))
  if (offer === undefined) return request
  const token = decoded(offer.slice(BEARER.length))
  if (!/^[\x20-\x7e]*$/.test(token)) {
    throw new HttpError(
      400,
      'invalid_token',
      'The token in the subprotocol bearer.<token> is not printable ASCII.',
    )
  }
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  return new Request(request, { headers })
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}
