/** The part of a Node request that is used to read its body. */
export interface PeekableRequest {
  readonly httpVersionMajor: number
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableDidRead: boolean
  readonly readableEnded: boolean
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly on: (event: 'readable' | 'end' | 'error' | 'close', listener: () => void) => unknown
  readonly off: (event: 'readable' | 'end' | 'error' | 'close', listener: () => void) => unknown
  read(): Uint8Array | string | null
  unshift(chunk: Uint8Array): void
}

/**
 * Reads an unread request body and puts it back for the next reader. Undefined if it is longer than
 * `maxBytes`, incomplete, or cannot be put back. What was read is then put back if possible.
 */
export function peekBody(req: PeekableRequest, maxBytes: number): Promise<Uint8Array | undefined> {
  const contentLength = req.headers['content-length']
  const expected = contentLength === undefined ? undefined : Number(contentLength)
  // Only HTTP/1 shows that a body of unknown length is complete before `end`, after which it cannot be put
  // back.
  const unknown = expected === undefined && req.httpVersionMajor !== 1
  if (unknown || req.readableDidRead || req.destroyed || (expected ?? 0) > maxBytes)
    return Promise.resolve(undefined)

  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let length = 0

    function settle(whole: boolean): void {
      req.off('readable', readChunks)
      req.off('end', fail)
      req.off('error', fail)
      req.off('close', fail)
      const bytes = concat(chunks, length)
      if (length > 0 && !req.destroyed && !req.readableEnded) req.unshift(bytes)
      resolve(whole ? bytes : undefined)
    }
    function readChunks(): void {
      let whole = false
      // One more `read` after the last chunk would make the stream emit `end`, and nothing could be put back.
      for (let chunk = req.read(); chunk !== null; chunk = whole || length > maxBytes ? null : req.read()) {
        const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
        chunks.push(bytes)
        length += bytes.byteLength
        whole = length === expected
      }
      if (length > maxBytes) settle(false)
      else if (whole || req.complete) settle(length > 0)
    }
    const fail = () => settle(false)

    req.on('readable', readChunks)
    req.on('end', fail)
    req.on('error', fail)
    req.on('close', fail)
  })
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
