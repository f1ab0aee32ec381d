import { callReporter } from './errors.ts'
import { brokenOff } from './respond.ts'
import { createTicker, type Ticker } from './ticker.ts'

/** The interval of heartbeats on an idle stream. Clients treat three silent intervals as a dead connection. */
const HEARTBEAT_MS = 5_000

const encoder = /* @__PURE__ */ new TextEncoder()
const heartbeats = /* @__PURE__ */ createTicker(HEARTBEAT_MS)

/** What the body of a streamed response is read from. */
export interface StreamSource {
  /**
   * The next bytes, or undefined when the stream should end. Called again only after the reader took the previous bytes, so
   * that nothing is read ahead. Must settle after `cancel`.
   */
  next(): Promise<Uint8Array | undefined>
  /** Releases everything. Called exactly once, however the stream ends. */
  cancel(): void
}

/** How a stream looks on the wire. */
export interface StreamFraming {
  readonly headers: Readonly<Record<string, string>>
  /** Bytes that readers ignore. They are sent at once, so that nothing holds the headers back. Default: none. */
  readonly opening?: Uint8Array | undefined
  /** Bytes that readers ignore, which show on an idle stream that the connection is alive. Default: none. */
  readonly heartbeat?: Uint8Array | undefined
}

export interface StreamOptions {
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
 * A response that is pulled from `source` at the pace of its reader. A failing source and an abort end it with an error, because clients
 * treat a clean end as final and do not reconnect.
 */
export function streamResponse(
  source: StreamSource,
  { headers, opening, heartbeat }: StreamFraming,
  { signal, onError, ticker = heartbeats }: StreamOptions = {},
): Response {
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
  const sendHeartbeat = () => controller.desiredSize === 0 && controller.enqueue(heartbeat!)

  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
        if (opening) controller.enqueue(opening)
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort)
      },
      async pull() {
        if (ended) return
        // Not earlier: the ticker would keep a response in memory that is never read.
        if (heartbeat) stopHeartbeat ??= ticker.add(sendHeartbeat)
        try {
          const bytes = await source.next()
          if (ended) return
          if (bytes !== undefined) return controller.enqueue(bytes)
          controller.close()
        } catch (error) {
          if (ended) return
          callReporter(() => onError?.(error))
          controller.error(brokenOff())
        }
        end()
      },
      cancel: end,
    },
    // Nothing is read ahead: `pull` is called only while a reader waits, so a stalled reader holds at most one heartbeat.
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { ...headers } })
}

/** A source over an async iterable. */
export interface IterableSource extends StreamSource {
  /** Waits for the first part, so that a failure before it can be answered with an error. Rejects with that failure. */
  ready(): Promise<void>
}

/**
 * Reads an async iterable of text or bytes as the body of a stream, one part for each pull. The signal that `read` is given fires when the
 * reader has left or `signal` aborts.
 */
export function sourceOf(
  read: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>,
  signal?: AbortSignal,
): IterableSource {
  const stop = new AbortController()
  const abort = () => stop.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  const parts = read(stop.signal)[Symbol.asyncIterator]()
  let first: Promise<IteratorResult<string | Uint8Array, unknown>> | undefined

  function cancel(): void {
    signal?.removeEventListener('abort', abort)
    stop.abort(null) // Without a reason it makes an error with a stack, which nobody sees.
    // The stream has ended: there is no reader left to get this error.
    parts.return?.().catch(() => {})
  }

  return {
    async ready() {
      try {
        await (first ??= parts.next())
      } catch (error) {
        cancel()
        throw error
      }
    },
    async next() {
      for (;;) {
        const { done, value } = await (first ?? parts.next())
        first = undefined
        if (done) return undefined
        if (value.length > 0) return typeof value === 'string' ? encoder.encode(value) : value
      }
    },
    cancel,
  }
}
