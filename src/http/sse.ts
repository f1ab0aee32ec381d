import { createTicker, type Ticker } from './ticker.ts'

/** Headers of every event stream. `no-transform` keeps compressors off it, `x-accel-buffering` the buffers of nginx. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** How often an idle stream says that it lives. Clients take three silent intervals for a dead connection. */
const HEARTBEAT_MS = 5_000

const encoder = new TextEncoder()
const OPENING = encoder.encode(': ok\n\n')
const HEARTBEAT = encoder.encode(': heartbeat\n\n')
const heartbeats = createTicker(HEARTBEAT_MS)

/** One event of an event stream (WHATWG HTML, "Server-sent events"). */
export interface SseEvent {
  /** Refused with CR, LF or NUL in it: a client would keep another id than the one we can resume from. */
  readonly id?: string | undefined
  /** CR and LF are dropped. */
  readonly event?: string | undefined
  /** CR, LF and CRLF each end a line: a client reads them all as LF. */
  readonly data: string
  /** Milliseconds, a whole number. */
  readonly retry?: number | undefined
}

/** The frame of one event. Throws a `TypeError` when `id` or `retry` cannot be sent. */
export function formatSse({ id, event, data, retry }: SseEvent): string {
  let frame = ''
  if (id !== undefined) {
    if (/[\r\n\0]/.test(id)) throw new TypeError('An event id must not contain CR, LF or NUL.')
    frame += `id: ${id}\n`
  }
  if (event !== undefined) frame += `event: ${event.replace(/[\r\n]/g, '')}\n`
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0)
      throw new TypeError('retry must be a whole number of milliseconds.')
    frame += `retry: ${retry}\n`
  }
  return `${frame}data: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
}

/** `formatSse` as UTF-8, to be encoded once and shared by all readers. */
export function encodeSse(event: SseEvent): Uint8Array {
  return encoder.encode(formatSse(event))
}

/** What an event stream reads from. */
export interface SseSource {
  /**
   * The next bytes, or undefined when the stream should end. Asked again only after the reader took what it gave: pull,
   * never push. Must settle after `cancel`.
   */
  next(): Promise<Uint8Array | undefined>
  /** Lets go of everything. Called exactly once, however the stream ended. */
  cancel(): void
}

export interface SseOptions {
  /** Ends the stream with an error, should `cancel()` of its body not come. */
  readonly signal?: AbortSignal | undefined
  /** Told why the source failed. The reader is told no more than that it did. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** What beats for idle streams. Default: one ticker of 5 seconds for all. */
  readonly ticker?: Ticker | undefined
}

/**
 * An event stream that a reader pulls out of `source`. A first comment is there at once, so that headers are not held back;
 * later comments keep the connection known to be alive. A source that fails, and an abort, break the stream: clients take a
 * clean end for the end of everything and do not come back.
 */
export function sseResponse(source: SseSource, options: SseOptions = {}): Response {
  const { signal, ticker = heartbeats } = options
  let controller: ReadableStreamDefaultController<Uint8Array>
  let stopBeating: (() => void) | undefined
  let ended = false

  const end = () => {
    if (ended) return
    ended = true
    stopBeating?.()
    signal?.removeEventListener('abort', abort)
    source.cancel()
  }

  const abort = () => {
    try {
      end()
      controller.error(signal?.reason)
    } catch (error) {
      controller.error(error)
    }
  }

  // Below zero, bytes wait in the queue: the reader has stalled and needs no more of them.
  const beat = () => controller.desiredSize === 0 && controller.enqueue(HEARTBEAT)

  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
        controller.enqueue(OPENING)
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort)
      },
      async pull() {
        stopBeating ??= ticker.add(beat) // Not before: a response that nobody reads must be held by nothing.
        try {
          const bytes = await source.next()
          if (ended) return
          if (bytes !== undefined) return controller.enqueue(bytes)
          controller.close()
        } catch (error) {
          if (ended) return
          options.onError?.(error)
          // Some servers write the error of a body into the response: it must not say what went wrong.
          controller.error(new DOMException('The stream was broken off.', 'AbortError'))
        }
        end()
      },
      cancel: end,
    },
    // Nothing is read ahead: `pull` comes when a reader waits, so a stalled reader keeps no bytes but at most a heartbeat.
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: SSE_HEADERS })
}
