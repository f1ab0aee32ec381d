export interface RequestEvents {
  (event: 'data', listener: (chunk: Uint8Array) => void): unknown
  (event: 'end' | 'error' | 'close', listener: () => void): unknown
}

export type ResponseEvents = (event: 'drain' | 'error' | 'close', listener: () => void) => unknown

/** Common to `http.IncomingMessage`, `http2.Http2ServerRequest` and the requests of Express and Connect. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The complete target, if a framework has removed the mount path from `url`. */
  readonly originalUrl?: string | undefined
  readonly httpVersionMajor: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly socket: unknown
  readonly aborted: boolean
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableDidRead: boolean
  readonly readableEnded: boolean
  /** Set by body parsers. */
  readonly body?: unknown
  readonly on: RequestEvents
  readonly off: RequestEvents
  pause(): unknown
  resume(): unknown
  destroy(): unknown
}

/** The part of `http.ServerResponse` and `http2.Http2ServerResponse` that the adapter uses. */
export interface NodeResponse {
  statusMessage: string
  readonly headersSent: boolean
  getHeader(name: string): number | string | string[] | undefined
  setHeader(name: string, value: string | string[]): unknown
  removeHeader(name: string): void
  writeHead(status: number, headers: Record<string, string | string[]>): unknown
  flushHeaders?(): void
  write(chunk: Uint8Array): boolean
  end(body?: string | Uint8Array): unknown
  destroy(): unknown
  /** Sends what a compressing middleware has buffered. */
  flush?(): void
  readonly on: ResponseEvents
  readonly off: ResponseEvents
}
