import { type StreamFraming, type StreamOptions, type StreamSource, streamResponse } from './stream.ts'

/**
 * The headers of every event stream. `no-transform` prevents compression, `x-accel-buffering` prevents
 * buffering in nginx.
 */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const encoder = /* @__PURE__ */ new TextEncoder()

/**
 * The headers and comments of every event stream. A comment is one line without a blank line: some clients,
 * such as `httpx-sse`, dispatch an event without data at each blank line after they have seen an id.
 */
export const SSE_FRAMING: StreamFraming = {
  headers: SSE_HEADERS,
  opening: /* @__PURE__ */ encoder.encode(': ok\n'),
  heartbeat: /* @__PURE__ */ encoder.encode(': heartbeat\n'),
}

/** One event of an event stream (WHATWG HTML, "Server-sent events"). */
export interface SseEvent {
  /**
   * Must not contain CR, LF or NUL: a client would store a different id from the one that the server can
   * resume from.
   */
  readonly id?: string | undefined
  /** CR and LF are removed. */
  readonly event?: string | undefined
  /** CR, LF and CRLF each end a line: a client reads all of them as LF. */
  readonly data: string
  /** The reconnection time in milliseconds, a whole number. */
  readonly retry?: number | undefined
}

/** Formats one event. Throws `TypeError` if `id` or `retry` cannot be sent. */
export function formatSse({ id, event, data, retry }: SseEvent): string {
  let frame = idLine(id)
  if (event !== undefined) frame += `event: ${event.replace(/[\r\n]/g, '')}\n`
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0)
      throw new TypeError('retry must be a whole number of milliseconds.')
    frame += `retry: ${retry}\n`
  }
  return `${frame}data: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
}

/** The line of an event's id, or an empty string. Throws `TypeError` for an id that cannot be sent. */
export function idLine(id: string | undefined): string {
  if (id === undefined) return ''
  if (/[\r\n\0]/.test(id)) throw new TypeError('An event id must not contain CR, LF or NUL.')
  return `id: ${id}\n`
}

/** `formatSse` as UTF-8 bytes, to encode once and share between all readers. */
export function encodeSse(event: SseEvent): Uint8Array {
  return encoder.encode(formatSse(event))
}

/** A stream of server-sent events, pulled from `source`. Heartbeats are comments. */
export const sseResponse = (source: StreamSource, options: StreamOptions = {}): Response =>
  streamResponse(source, SSE_FRAMING, options)
