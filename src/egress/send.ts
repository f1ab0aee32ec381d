/** A request whose URL and addresses were checked. */
export interface Outgoing {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  /** The request goes to one of them. Empty where the runtime does not resolve names. */
  readonly addresses: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Not sent with GET. */
  readonly body: Uint8Array<ArrayBuffer>
  /** Whether the body of the answer is given. */
  readonly keepsBody: boolean
  /** Ends the request. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** What is read of an answer. */
export interface Answer {
  /** 0 where the runtime says that it is a redirect and no more. */
  readonly status: number
  readonly retryAfter: string | null | undefined
  readonly contentType: string | null | undefined
  /** Empty unless it was asked for. */
  readonly body: readonly Uint8Array[]
  /** Whether the body was read to its end, up to its limit, or until the connection broke. */
  readonly ending: 'whole' | 'too_large' | 'broken'
}

/** How a runtime sends requests. */
export interface Sender {
  /** The addresses of a name. Absent where the runtime does not resolve names. */
  readonly lookup?: ((name: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined
  /** Sends without following redirects. Settles when the answer was read, up to its limit or to the abort. */
  readonly send: (request: Outgoing) => Promise<Answer>
}
