import type { WebHandler } from '../../core/http/types.ts'

/** An adapter under audit: it serves a handler with a server framework. */
export interface AdapterTarget {
  readonly name: string
  /** Serves `handler` until `close`. The server can run in another process, with its own `adapterProbe()`. */
  readonly start: (handler: WebHandler, options: StartOptions) => Promise<StartedTarget>
  /** The capabilities of this adapter. Checks that need others are left out. */
  readonly can: readonly AdapterCapability[]
  /**
   * Opens a TCP connection with the WinterTC sockets API, for HTTP/1.1 requests that `fetch` cannot send.
   * `close` must close the connection. If omitted, the checks that need it are left out.
   */
  readonly connect?: ((address: { hostname: string; port: number }) => RawSocket) | undefined
  /** Runs a full garbage collection. If omitted, the check that needs it is left out. */
  readonly collect?: (() => void) | undefined
}

export interface StartOptions {
  /**
   * Mounts the handler at this path, such as `/agent`, before the host's own `GET /agent/host`, which returns
   * `host`. If omitted, mounts it at the root, before `GET /host`.
   */
  readonly mount?: string | undefined
  /** Makes the host trust `x-forwarded-*` headers. */
  readonly trustProxy?: boolean | undefined
  /** Headers that the host sets on each response before the handler runs. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface StartedTarget {
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  /** Replaces the global `fetch`, for example for HTTP/2. Aborting its `signal` must disconnect. */
  readonly fetch?: typeof fetch | undefined
  /** Closes the handler, then the server. */
  readonly close: () => Promise<void>
}

export type AdapterCapability =
  /** The handler's stream is cancelled when the client disconnects. */
  | 'disconnect'
  /** A disconnect aborts `context.signal` or `request.signal`. */
  | 'signal'
  /** A slow client slows down the source. */
  | 'backpressure'
  /** Headers are sent before the first byte of the body. */
  | 'early-headers'
  /** A disconnect is reported to every request that waits on the connection. */
  | 'pipelining'
  /** An error that the handler throws gets a response. */
  | 'errors'
  /** A stream that fails is aborted, not ended. */
  | 'broken-streams'
  /** No body parser of the host runs before the handler. */
  | 'own-bodies'
  /** The rest of a rejected upload is read, up to a limit. */
  | 'drain'
  /** `request.url` is built from the request's target and Host header. */
  | 'own-url'
  /** The `content-length` of a response reaches the client. */
  | 'length'
  /** OPTIONS requests reach the handler. */
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
