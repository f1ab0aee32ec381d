/** A request whose URL and addresses were checked. */
export interface Outgoing {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  /** The request goes to one of these. Empty if the runtime does not resolve names. */
  readonly addresses: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Not sent with GET. */
  readonly body: Uint8Array<ArrayBuffer>
  /** Whether the body of the response is returned. */
  readonly keepsBody: boolean
  /** Ends the request. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** The part of a response that is read. */
export interface Answer {
  /** 0 if the runtime only reports a redirect. */
  readonly status: number
  readonly retryAfter: string | null | undefined
  readonly contentType: string | null | undefined
  /** Empty unless requested. */
  readonly body: readonly Uint8Array[]
  /** Whether the body was read to its end, up to its limit, or until the connection was lost. */
  readonly ending: 'whole' | 'too_large' | 'broken'
}

/** How a runtime sends requests. */
export interface Sender {
  /** Resolves the addresses of a name. Absent if the runtime does not resolve names. */
  readonly lookup?: ((name: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined
  /**
   * Sends without following redirects. Settles when the response was read: to its end, its limit or the
   * abort.
   */
  readonly send: (request: Outgoing) => Promise<Answer>
}
