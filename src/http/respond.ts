const encoder = new TextEncoder()

// A symbol property rather than a WeakMap: it needs no shared state, `Symbol.for` makes it the same key in the ESM and the CJS
// build, and a Response that a host rebuilt with another body or other headers rightly loses it.
const BODY = Symbol.for('agentwire.body')

export interface ResponseOptions {
  /** Default 200. */
  readonly status?: number | undefined
  /** Names in lower case. They override those set here. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A JSON response with its length, whose text `knownBody` returns. `undefined` is sent as `null`. */
export function json(value: unknown, { status = 200, headers }: ResponseOptions = {}): Response {
  const text = JSON.stringify(value) ?? 'null'
  const response = new Response(text, {
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(encoder.encode(text).byteLength),
      ...headers,
    },
  })
  return Object.defineProperty(response, BODY, { value: text })
}

/** A response without a body. */
export function empty(status = 204, headers?: Readonly<Record<string, string>>): Response {
  return new Response(null, { status, headers: { ...headers } })
}

/** The whole body of a response made by `json`, so that an adapter can send it at once instead of reading a stream. */
export function knownBody(response: Response): string | Uint8Array | undefined {
  if (response.bodyUsed) return undefined
  return (response as { readonly [BODY]?: string })[BODY]
}
