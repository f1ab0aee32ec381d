import { callReporter } from './errors.ts'
import { brokenOff } from './respond.ts'

/**
 * The interval of heartbeats on an idle stream. Clients treat three silent intervals as a dead connection.
 */
const HEARTBEAT_MS = 5_000

const encoder = /* @__PURE__ */ new TextEncoder()
const heartbeats = /* @__PURE__ */ createTicker(HEARTBEAT_MS)

/** The source of a streamed response body. */
export interface StreamSource {
  /**
   * The next bytes, or undefined at the end of the stream. Called again only after the reader took the
   * previous bytes, so nothing is read ahead. Must settle after `cancel`.
   */
  next(): Promise<Uint8Array | undefined>
  /** Releases all resources. Called exactly once, however the stream ends. */
  cancel(): void
}

/** The format of a stream on the wire. */
export interface StreamFraming {
  readonly headers: Readonly<Record<string, string>>
  /**
   * Bytes that readers ignore. They are sent at once, so that no proxy holds back the headers. Default: none.
   */
  readonly opening?: Uint8Array | undefined
  /**
   * Bytes that readers ignore, sent on an idle stream to show that the connection is alive. Default: none.
   */
  readonly heartbeat?: Uint8Array | undefined
}

/** The options of a streamed response. */
export interface StreamOptions {
  /** Ends the stream with an error when it aborts, for hosts that do not cancel the body. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called with the reason if the source fails. The reader only sees that the stream broke. Errors that it
   * throws or rejects with are ignored.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined
  /**
   * Triggers the heartbeats of idle streams. Default: one ticker with an interval of 5 seconds, shared by all
   * streams.
   */
  readonly ticker?: Ticker | undefined
}

/**
 * A response that is pulled from `source` at the reader's pace. A failed source and an abort end it with an
 * error, because clients treat a clean end as final and do not reconnect.
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
    // Deno cancels the body right after the abort, and logs an error if the body broke before that. Queued
    // bytes must not be read.
    if (controller.desiredSize === 0) queueMicrotask(fail)
    else fail()
  }

  // A negative size means that bytes wait for a stalled reader, which needs no additional heartbeat.
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
    // Nothing is read ahead: `pull` is called only while a reader waits, so a stalled reader holds at most
    // one heartbeat.
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { ...headers } })
}

/** A source that reads an async iterable. */
export interface IterableSource extends StreamSource {
  /**
   * Waits for the first part, so that an early failure can be answered with an error. Rejects with that
   * failure.
   */
  ready(): Promise<void>
}

/**
 * Reads an async iterable of text or bytes as a stream body, one part for each pull. The signal passed to
 * `read` fires when the reader disconnects or `signal` aborts.
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
    stop.abort(null) // Without a reason, `abort` creates an error with a stack that is never read.
    // The stream has ended, so there is no reader for this error.
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

/** An interval timer that many callbacks share. */
export interface Ticker {
  /** Calls `beat` at every interval, until the returned function is called or `beat` throws. */
  add(beat: () => unknown): () => void
}

/** A ticker whose timer runs only while it has callbacks, and does not keep the process alive. */
export function createTicker(intervalMs: number): Ticker {
  const callbacks = new Set<() => unknown>()
  let timer: ReturnType<typeof setInterval> | undefined

  const remove = (beat: () => unknown) => {
    if (callbacks.delete(beat) && callbacks.size === 0) clearInterval(timer)
  }

  const tick = () => {
    for (const beat of callbacks) {
      try {
        beat()
      } catch {
        remove(beat) // It would fail every time, and must not stop the others.
      }
    }
  }

  return {
    add(beat) {
      const own = () => beat() // The same function may be added twice.
      callbacks.add(own)
      if (callbacks.size === 1) timer = unref(setInterval(tick, intervalMs))
      return () => remove(own)
    },
  }
}

function unref<T>(timer: T): T {
  // Only some runtimes have it; in others a timer is a number.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}
