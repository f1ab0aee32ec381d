const encoder = /* @__PURE__ */ new TextEncoder()
const JSON_TYPE = { 'content-type': 'application/json' }

// A symbol property instead of a WeakMap: it needs no shared state, `Symbol.for` returns the same key in the
// ESM and the CJS build, and a Response that a host rebuilt with another body or headers loses it, as it
// should.
const BODY = /* @__PURE__ */ Symbol.for('agentwire.body')

/** The status and headers of a response. */
export interface ResponseOptions {
  /** Default: 200. */
  readonly status?: number | undefined
  /** Headers with lowercase names. They override the default headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A JSON response with its length. `knownBody` returns its text. `undefined` is sent as `null`. */
export function json(value: unknown, options?: ResponseOptions): Response {
  return jsonText(JSON.stringify(value) ?? 'null', options)
}

/** Like `json`, for a value that is already JSON text. */
export function jsonText(text: string, { status = 200, headers }: ResponseOptions = {}): Response {
  const response = new Response(text, {
    status,
    headers: { ...JSON_TYPE, 'content-length': String(encoder.encode(text).byteLength), ...headers },
  })
  return Object.defineProperty(response, BODY, { value: text })
}

/** How much of a list is buffered before it is sent, in characters. */
const PART_LENGTH = 65_536

/**
 * A JSON array that is written while `items` are read, at the reader's pace, so that a long list is never in
 * memory as a whole. Rejects if `items` fail before the first part is full. A later failure is passed to
 * `onError` and aborts the response, so that it cannot be mistaken for a complete one. A short list is sent
 * like `json`.
 */
export async function jsonList(
  items: AsyncIterable<unknown>,
  onError: (error: unknown) => void,
  { status = 200, headers }: ResponseOptions = {},
): Promise<Response> {
  const parts = listParts(items)
  const first = await parts.next()
  if (first.done) return jsonText(first.value, { status, headers })
  let unsent: IteratorResult<string, string> | undefined = first
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = unsent ?? (await parts.next())
          unsent = undefined
          controller.enqueue(encoder.encode(part.value))
          if (part.done) controller.close()
        } catch (error) {
          onError(error)
          controller.error(brokenOff())
        }
      },
      async cancel() {
        await parts.return('')
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status, headers: { ...JSON_TYPE, ...headers } })
}

async function* listParts(items: AsyncIterable<unknown>): AsyncGenerator<string, string> {
  let text = '['
  let separator = ''
  for await (const item of items) {
    text += separator + (JSON.stringify(item) ?? 'null')
    separator = ','
    if (text.length < PART_LENGTH) continue
    yield text
    text = ''
  }
  return `${text}]`
}

/**
 * The error of a body that cannot continue. It hides the cause, because some servers send it to the client.
 */
export const brokenOff = (): DOMException => new DOMException('The stream was interrupted.', 'AbortError')

/** A response without a body. */
export function empty(status = 204, headers?: Readonly<Record<string, string>>): Response {
  return new Response(null, { status, headers: { ...headers } })
}

/** The complete body of a response made by `json`, which an adapter can send without reading a stream. */
export function knownBody(response: Response): string | Uint8Array | undefined {
  if (response.bodyUsed) return undefined
  return (response as { readonly [BODY]?: string })[BODY]
}
