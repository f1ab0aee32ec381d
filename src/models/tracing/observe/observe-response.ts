import { createParser } from 'eventsource-parser'
import { TracingError } from '../errors.ts'
import { createObserver, type Ending, type ObserveOptions, type Observer } from './observer.ts'

export type { ObserveOptions } from './observer.ts'

/** The limit for a complete body and for a line of a stream, in characters. Longer ones are not parsed. */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024

/**
 * Observes a provider's HTTP response while the caller reads it: server-sent events, lines of JSON (Ollama),
 * or one JSON body. The bytes are passed on unchanged, when the caller pulls them. A status of 400 or above
 * makes a failed record with the body as its error.
 *
 * ```ts
 * const fetch = async (url, init) =>
 *   observeModelResponse(await globalThis.fetch(url, init), { request: JSON.parse(init.body) })
 * const openai = new OpenAI({ fetch })
 * ```
 *
 * Throws `TracingError` for AWS event streams: pass the SDK's stream to `observeModelStream` instead.
 */
export function observeModelResponse(response: Response, options: ObserveOptions = {}): Response {
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  if (type.startsWith('application/vnd.amazon.eventstream')) {
    const message = 'AWS event streams are not supported. Pass the SDK stream to observeModelStream.'
    throw new TracingError('response', message)
  }
  const observer = createObserver(options)
  const reader = readerOf(type, response, observer)
  if (!response.body) {
    observer.end(reader.end())
    return response
  }
  const observed = new Response(observeBytes(response.body, observer, reader, response.ok), response)
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(observed, name, { value: response[name] })
  return observed
}

interface TextReader {
  push(text: string): void
  /** Reads the rest and returns how the body ended. */
  end(): Ending
}

function readerOf(type: string, { ok, status }: Response, observer: Observer): TextReader {
  if (!ok) return readFailure(status)
  if (/ndjson|jsonl|json-seq/.test(type)) return readLines(observer)
  return readByStart(type.startsWith('text/event-stream'), observer)
}

/** The start of an event stream, which is no start of JSON. */
const EVENT_START = /^(data|event|id|retry)?:|^(data|event|id|retry)[\r\n]/

/** The length of text that tells an event stream from JSON. */
const ENOUGH = 8

/** Reads events or JSON. The first letters tell, because servers name the wrong content type, or none. */
function readByStart(isNamedStream: boolean, observer: Observer): TextReader {
  let start = ''
  let reader: TextReader | undefined
  function begin(): TextReader {
    const isStream = isNamedStream ? !/^[[{]/.test(start) : EVENT_START.test(start)
    reader = isStream ? readEvents(observer) : readWhole(observer)
    reader.push(start)
    return reader
  }
  return {
    push(text) {
      if (reader) return reader.push(text)
      start = (start + text).trimStart()
      if (start.length >= ENOUGH) begin()
    },
    end: () => (reader ?? begin()).end(),
  }
}

function readFailure(status: number): TextReader {
  let body = ''
  return {
    push(text) {
      if (body.length < MAX_TEXT_LENGTH) body += text
    },
    end: () => ({ error: `HTTP ${status}: ${body.trim()}`.slice(0, 10_000) }),
  }
}

function readEvents(observer: Observer): TextReader {
  let failed: Ending | undefined
  const parser = createParser({
    maxBufferSize: MAX_TEXT_LENGTH,
    onEvent({ data }) {
      if (data !== '[DONE]' && data !== '') pushJson(observer, data)
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failed = { error }
    },
  })
  return {
    push(text) {
      if (!failed) parser.feed(text)
    },
    end() {
      parser.reset({ consume: true })
      return failed ?? 'complete'
    },
  }
}

function readLines(observer: Observer): TextReader {
  let rest = ''
  return {
    push(text) {
      const lines = text.split('\n')
      lines[0] = rest + lines[0]
      rest = lines.pop()!
      for (const line of lines) if (line.trim()) pushJson(observer, line)
      if (rest.length > MAX_TEXT_LENGTH) rest = ''
    },
    end() {
      if (rest.trim()) pushJson(observer, rest)
      return 'complete'
    },
  }
}

/** Reads a complete JSON body. A list is a stream of chunks, as Gemini sends them without `alt=sse`. */
function readWhole(observer: Observer): TextReader {
  const pieces: string[] = []
  let length = 0
  return {
    push(text) {
      length += text.length
      if (length <= MAX_TEXT_LENGTH) pieces.push(text)
    },
    end() {
      if (length > MAX_TEXT_LENGTH) return { error: `Longer than ${MAX_TEXT_LENGTH} characters.` }
      const response = parse(pieces.join(''))
      if (!Array.isArray(response)) return { response }
      for (const chunk of response) observer.push(chunk)
      return 'complete'
    },
  }
}

function pushJson(observer: Observer, text: string): void {
  observer.push(parse(text))
}

/** Parses JSON. Other text is returned unchanged as a chunk, because formats keep unknown values. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function observeBytes(
  body: ReadableStream<Uint8Array>,
  observer: Observer,
  { push, end }: TextReader,
  ok: boolean,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const source = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.read()
          if (!done) {
            controller.enqueue(value)
            push(decoder.decode(value, { stream: true }))
            return
          }
          controller.close()
          push(decoder.decode())
          observer.end(end())
        } catch (error) {
          observer.end({ error })
          throw error
        }
      },
      async cancel(reason) {
        observer.end(ok ? 'cancelled' : end())
        await source.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
