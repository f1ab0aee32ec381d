import type { WebHandler } from '../../http/types.ts'

/** An adapter under audit: what puts a handler behind a server. */
export interface AdapterTarget {
  readonly name: string
  /** Serves `handler` until `close`. Another process may serve an `adapterProbe()` of its own. */
  readonly start: (handler: WebHandler, options: StartOptions) => Promise<StartedTarget>
  /** What applies to this adapter. A check that needs something else is left out. */
  readonly can: readonly AdapterCapability[]
  /**
   * Opens a TCP connection with the WinterTC sockets API, for HTTP/1.1 that `fetch` cannot send.
   * `close` must cut the connection. Absent: checks that need it are left out.
   */
  readonly connect?: ((address: { hostname: string; port: number }) => RawSocket) | undefined
  /** Runs a full garbage collection. Absent: the check that needs it is left out. */
  readonly collect?: (() => void) | undefined
}

export interface StartOptions {
  /**
   * Mounts the handler at this path, such as `/agent`, before the host's own `GET /agent/host` that says `host`.
   * Absent: at the root, before `GET /host`.
   */
  readonly mount?: string | undefined
  /** Let the host believe `x-forwarded-*`. */
  readonly trustProxy?: boolean | undefined
  /** Headers that the host sets on each response before the handler runs. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface StartedTarget {
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  /** Where the global one will not do, as for HTTP/2. Its `signal` must disconnect. */
  readonly fetch?: typeof fetch | undefined
  /** Ends the handler, then the server. */
  readonly close: () => Promise<void>
}

export type AdapterCapability =
  /** A client that leaves is seen. */
  | 'disconnect'
  /** The abort of `context.signal` or `request.signal` follows it. */
  | 'signal'
  /** A slow reader slows the source down. */
  | 'backpressure'
  /** Headers leave before the first byte of the body. */
  | 'early-headers'
  /** A client that leaves is seen by each request that waits on its connection. */
  | 'pipelining'
  /** A handler that throws is answered. */
  | 'errors'
  /** A stream that breaks is broken off. */
  | 'broken-streams'
  /** No body parser of the host comes before the handler. */
  | 'own-bodies'
  /** What is left of a refused upload is taken in, within bounds. */
  | 'drain'
  /** `request.url` is made of the target and the host of the request. */
  | 'own-url'
  /** The `content-length` of a response reaches the client. */
  | 'length'
  /** OPTIONS reaches the handler. */
  | 'options'
  | 'mount'
  | 'fall-through'
  | 'trust-proxy'
  | 'host-headers'
  /** `close` of the started target closes the handler in this process. */
  | 'shutdown'

export interface RawSocket {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
  close(): Promise<void>
}
