import { concatBytes } from '../bytes.ts'
import { HttpError } from './errors.ts'

export const DEFAULT_MAX_BODY_BYTES = 4 * 1024 * 1024
const MAX_DEPTH = 100

/**
 * Each value costs memory and time in all that reads a body, however short it is: 4 MiB of `[` or `{}` are two
 * million values, which take seconds. So a body has at most one value for each 16 bytes of its limit.
 */
const BYTES_PER_VALUE = 16
/** So many cost little. A host that has parsed a body may have a limit of its own. */
const LEAST_VALUES = 10_000

export interface ReadJsonOptions {
  /** The maximum size in bytes, counted while reading. Default: 4 MiB. */
  readonly maxBytes?: number | undefined
  /** The maximum nesting of arrays and objects; a scalar has depth 0. Default: 100. */
  readonly maxDepth?: number | undefined
  /** The body that an earlier parser read. Only its depth and its number of values are checked, and the
   * request is not read. */
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
 * The JSON body of a request; `undefined` if it is empty. Throws `HttpError`: 413 `payload_too_large` (also for
 * more values than a sixteenth of `maxBytes`), 400
 * `invalid_encoding` (not UTF-8), `invalid_json`, `too_deep`, `incomplete_body` (the client disconnected).
 */
export async function readJson(request: Request, options: ReadJsonOptions = {}): Promise<unknown> {
  const { parsedBody } = options
  if (parsedBody !== undefined) {
    throwProblem('body', problemOf(parsedBody, boundsOf(options)), boundsOf(options))
    return parsedBody
  }
  const text = await readText(request, options)
  if (text === '') return undefined
  checkText('body', text, options)
  return (options.parse ?? parse)(text)
}

type Bounds = Readonly<Record<'depth' | 'values', number>>

const boundsOf = ({
  maxBytes = DEFAULT_MAX_BODY_BYTES,
  maxDepth = MAX_DEPTH,
}: Pick<ReadJsonOptions, 'maxBytes' | 'maxDepth'>): Bounds => ({
  depth: maxDepth,
  values: Math.max(LEAST_VALUES, Math.floor(maxBytes / BYTES_PER_VALUE)),
})

/** Throws `HttpError` for JSON that is nested too deeply, or has too many values, before it is parsed. */
export function checkText(
  name: string,
  text: string,
  options: Pick<ReadJsonOptions, 'maxBytes' | 'maxDepth'>,
): void {
  throwProblem(name, problemOfText(text, boundsOf(options)), boundsOf(options))
}

function throwProblem(name: string, problem: keyof Bounds | undefined, { depth, values }: Bounds): void {
  if (problem === 'depth')
    throw new HttpError(400, 'too_deep', `The ${name} is nested deeper than ${depth} levels.`)
  if (problem === 'values')
    throw new HttpError(
      413,
      'payload_too_large',
      `The ${name} has more than ${values} values. Send long data as a string, or in several requests.`,
    )
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
    return concatBytes(chunks)
  } catch (error) {
    stop()
    throw error instanceof HttpError ? error : incomplete(error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
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

export const isTextDeeper = (text: string, maxDepth: number): boolean =>
  problemOfText(text, { depth: maxDepth, values: Number.POSITIVE_INFINITY }) !== undefined

/** Counts brackets and commas outside strings, to reject JSON before it is parsed. Only meaningful for JSON. */
function problemOfText(text: string, most: Bounds): keyof Bounds | undefined {
  let depth = 0
  let values = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > most.depth) return 'depth'
      const next = text.charCodeAt(at + 1)
      // An empty list or object is one value, which its comma counts.
      if (next !== 0x5d && next !== 0x7d) values++
    } else if (code === 0x5d || code === 0x7d) depth--
    else if (code === 0x2c) values++
    if (values > most.values) return 'values'
  }
  return undefined
}

/** Walks level by level, each object once per level: no stack overflow, and cycles stop at the depth. */
function problemOf(value: unknown, most: Bounds): keyof Bounds | undefined {
  let level = new Set([value].filter(isObject))
  let values = 0
  for (let depth = 1; level.size > 0; depth++) {
    if (depth > most.depth) return 'depth'
    const next = new Set<object>()
    for (const parent of level) {
      const children: unknown[] = Object.values(parent)
      values += children.length
      if (values > most.values) return 'values'
      for (const child of children) if (isObject(child)) next.add(child)
    }
    level = next
  }
  return undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, 'payload_too_large', `The body is larger than ${maxBytes} bytes.`)
}

function incomplete(cause: unknown): HttpError {
  return new HttpError(400, 'incomplete_body', 'The body ended before it was complete.', { cause })
}
