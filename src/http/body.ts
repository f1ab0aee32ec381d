import { HttpError } from './errors.ts'

export const DEFAULT_MAX_BODY_BYTES = 4 * 1024 * 1024
export const MAX_DEPTH = 100

export interface ReadJsonOptions {
  /** The maximum size in bytes, counted while reading. Default: 4 MiB. */
  readonly maxBytes?: number | undefined
  /** The maximum nesting of arrays and objects; a scalar has depth 0. Default: 100. */
  readonly maxDepth?: number | undefined
  /** The body that an earlier parser read. Only its depth is checked, and the request is not read. */
  readonly parsedBody?: unknown
  /** Why an earlier parser could not read the body. It is thrown. */
  readonly error?: HttpError | undefined
  /** Parses a non-empty body. Its errors are passed on. Default: `JSON.parse`, with `invalid_json` errors. */
  readonly parse?: ((text: string) => unknown) | undefined
  /** Default: the signal of the request. */
  readonly signal?: AbortSignal | undefined
}

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON body of a request; `undefined` if it is empty. Throws `HttpError`: 413 `payload_too_large`, 400
 * `invalid_encoding` (not UTF-8), `invalid_json`, `too_deep`, `incomplete_body` (the client disconnected).
 */
export async function readJson(request: Request, options: ReadJsonOptions = {}): Promise<unknown> {
  const { maxDepth = MAX_DEPTH, parsedBody } = options
  if (parsedBody !== undefined) {
    if (isDeeper(parsedBody, maxDepth)) throw tooDeep(maxDepth)
    return parsedBody
  }
  const text = await readText(request, options)
  if (text === '') return undefined
  if (isTextDeeper(text, maxDepth)) throw tooDeep(maxDepth)
  return (options.parse ?? parse)(text)
}

/** The body of a request as text. Throws like `readJson`, except for errors about JSON. */
export async function readText(
  request: Request,
  {
    maxBytes = DEFAULT_MAX_BODY_BYTES,
    error,
    signal = request.signal,
  }: Omit<ReadJsonOptions, 'parsedBody'> = {},
): Promise<string> {
  if (error) throw error
  return decode(await readBytes(request, maxBytes, signal))
}

async function readBytes(request: Request, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked) {
    const message = 'The body was read before this handler ran: pass the parsed value as context.parsedBody.'
    throw new HttpError(500, 'body_used', message)
  }
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  // Cancelling ends a pending read. Its failure is ignored: the read already reports the abort.
  const stop = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', stop)
  try {
    if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
    const chunks: Uint8Array[] = []
    let length = 0
    while (!signal.aborted) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.byteLength
      // The negation also rejects NaN, from hosts whose chunks are not bytes.
      if (!(length <= maxBytes)) throw tooLarge(maxBytes)
      chunks.push(value)
    }
    if (signal.aborted) throw incomplete(signal.reason)
    return concat(chunks, length)
  } catch (error) {
    stop()
    throw error instanceof HttpError ? error : incomplete(error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new HttpError(400, 'invalid_encoding', 'The body is not valid UTF-8.', { cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HttpError(400, 'invalid_json', 'The body is not valid JSON.', { cause })
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts brackets outside strings, to reject deep JSON before it is parsed. Only meaningful for JSON. */
export function isTextDeeper(text: string, maxDepth: number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/** Walks level by level, each object once per level: no stack overflow, and cycles stop at `maxDepth`. */
function isDeeper(value: unknown, maxDepth: number): boolean {
  let level = new Set([value].filter(isObject))
  for (let depth = 1; level.size > 0; depth++) {
    if (depth > maxDepth) return true
    const next = new Set<object>()
    for (const parent of level)
      for (const child of Object.values(parent)) if (isObject(child)) next.add(child)
    level = next
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, 'payload_too_large', `The body is larger than ${maxBytes} bytes.`)
}

function tooDeep(maxDepth: number): HttpError {
  return new HttpError(400, 'too_deep', `The body is nested deeper than ${maxDepth} levels.`)
}

function incomplete(cause: unknown): HttpError {
  return new HttpError(400, 'incomplete_body', 'The body ended before it was complete.', { cause })
}
