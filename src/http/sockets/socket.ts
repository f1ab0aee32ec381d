import { HttpError } from '../errors.ts'
import { json } from '../respond.ts'

/** A web socket, as its session uses it. */
export interface SocketPeer {
  /**
   * Sends whole text frames (RFC 6455, §5), which the server's sockets share. False where the network does not take them at once:
   * the session then waits for `drain`.
   */
  send(frames: Uint8Array): boolean
  /** Ends the socket with a close code (RFC 6455, §7.4). */
  close(code: number, reason: string): void
}

/** What a handler does with a web socket. An adapter binds it to a socket of its host. No method throws. */
export interface SocketSession {
  /** What the handshake answers as `Sec-WebSocket-Protocol`. */
  readonly protocol: string | undefined
  /** A socket with a longer message is closed with 1009. */
  readonly maxMessageBytes: number
  /** Called once, before any other method. */
  open(peer: SocketPeer): void
  message(data: string | Uint8Array): void
  /** The network has taken what `send` had to keep. */
  drain(): void
  /** The socket has closed, from either side. */
  close(): void
}

// A symbol property, as for the body of a response: what wraps a handler passes the response on as it is.
const SESSION = /* @__PURE__ */ Symbol.for('agentwire.socket')

/**
 * The answer to a handshake that is accepted. An adapter that can switch to a web socket binds the session; for any other host the
 * response is 426.
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

/** What begins the subprotocol in which a browser sends a token, because its web sockets send no other header. */
const BEARER = 'bearer.'

/** The subprotocols that a handshake offers, in order. */
const offered = ({ headers }: Request): readonly string[] =>
  headers
    .get('sec-websocket-protocol')
    ?.split(',')
    .map((name) => name.trim()) ?? []

/** The subprotocol to answer with: a browser gives up where none of those that it has offered is chosen. */
export function chosenProtocol(request: Request): string | undefined {
  const names = offered(request)
  return names.find((name) => !name.startsWith(BEARER)) ?? names[0]
}

/**
 * A handshake with the token of its subprotocol `bearer.<token>`, percent-encoded, as its `Authorization`. Other requests stay as they
 * are. Throws `HttpError` 400 for a token that no header can carry.
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
