import { callReporter } from './errors.ts'
import { brokenOff } from './respond.ts'
import { createTicker, type Ticker } from './ticker.ts'

/** Headers of every event stream. `no-transform` prevents compression, `x-accel-buffering` prevents buffering in nginx. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The interval of heartbeats on an idle stream. Clients treat three silent intervals as a dead connection. */
const HEARTBEAT_MS = 5_000

const encoder = new TextEncoder()
const OPENING = encoder.encode(': ok\n\n')
const HEARTBEAT = encoder.encode(': heartbeat\n\n')
const heartbeats = createTicker(HEARTBEAT_MS)

/** One event of an event stream (WHATWG HTML, "Server-sent events"). */
export interface SseEvent {
  /** Must not contain CR, LF or NUL: a client would store a different id from the one the server can resume from. */
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
   * The next bytes, or undefined when the stream should end. Called again only after the reader took the previous bytes, so
   * that nothing is read ahead. Must settle after `cancel`.
   */
  next(): Promise<Uint8Array | undefined>
  /** Releases everything. Called exactly once, however the stream ends. */
  cancel(): void
}

export interface SseOptions {
  /** Ends the stream with an error when it aborts, for hosts that do not cancel the body. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called with the reason when the source fails. The reader learns only that the stream broke. What it throws or rejects with
   * is ignored.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined
  /** Triggers the heartbeats of idle streams. Default: one ticker of 5 seconds, shared by all streams. */
  readonly ticker?: Ticker | undefined
}

/**
 * An event stream that is pulled from `source`. A first comment is sent at once, so that headers are not held back; later
 * comments show that the connection is alive. A failing source and an abort end the stream with an error, because clients treat
 * a clean end as final and do not reconnect.
 */
export function sseResponse(source: SseSource, options: SseOptions = {}): Response {
  const { signal, ticker = heartbeats } = options
  let controller: ReadableStreamDefaultController<Uint8Array>
  let stopHeartbeat: (() => void) | undefined
  let ended = false

  const end = () => {
    if (ended) return
    ended = true
    stopHeartbeat?.()
    signal?.removeEventListener('abort', abort)
    source.cancel()
  }

  const abort = () => {
    let reason = signal?.reason
    try {
      end()
    } catch (error) {
      reason = error
    }
    const fail = () => controller.error(reason)
    // Deno cancels the body right after the abort, and logs the error of a body that broke before. Queued bytes must not be read.
    if (controller.desiredSize === 0) queueMicrotask(fail)
    else fail()
  }

  // A negative size means that bytes wait for a stalled reader, which needs no heartbeat on top of them.
  const sendHeartbeat = () => controller.desiredSize === 0 && controller.enqueue(HEARTBEAT)

  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
        controller.enqueue(OPENING)
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort)
      },
      async pull() {
        if (ended) return
        stopHeartbeat ??= ticker.add(sendHeartbeat) // Not earlier: the ticker would keep a response in memory that is never read.
        try {
          const bytes = await source.next()
          if (ended) return
          if (bytes !== undefined) return controller.enqueue(bytes)
          controller.close()
        } catch (error) {
          if (ended) return
          callReporter(() => options.onError?.(error))
          controller.error(brokenOff())
        }
        end()
      },
      cancel: end,
    },
    // Nothing is read ahead: `pull` is called only while a reader waits, so a stalled reader holds at most one heartbeat.
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: SSE_HEADERS })
}
