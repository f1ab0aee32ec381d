import { AgentwireError } from '../../src/core/errors.ts'
import type { NodeRequest } from './types.ts'

/** Limits for draining an unread upload, so that its sender can read the response. */
const DRAIN_BYTES = 16 * 1024 * 1024
const DRAIN_MS = 1_000

/** The request body. The socket is read only as fast as the stream is. */
export function bodyStream(req: NodeRequest): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array>
  let started = false

  function data(chunk: Uint8Array): void {
    controller.enqueue(chunk)
    req.pause()
  }
  function end(): void {
    stop()
    controller.close()
  }
  function fail(): void {
    stop()
    controller.error(
      new DOMException('The client closed the connection before the body was complete.', 'AbortError'),
    )
  }
  function stop(): void {
    req.off('data', data)
    req.off('end', end)
    req.off('error', fail)
    req.off('close', fail)
  }

  return new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull() {
        if (!started) {
          started = true
          if (req.readableEnded) return alreadyRead(req, controller)
          if (req.destroyed) return fail()
          req.on('data', data)
          req.on('end', end)
          req.on('error', fail)
          req.on('close', fail)
        }
        req.resume()
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  )
}

/**
 * Discards the rest of an upload, and closes the connection if it exceeds the limits. An unread upload would
 * stall the keep-alive connection or be read without limit. Call it before the response ends.
 */
export function discardUpload(req: NodeRequest): void {
  if (req.readableEnded || req.destroyed || (req.complete && !req.readableDidRead)) return
  let left = DRAIN_BYTES
  const timer = setTimeout(cut, DRAIN_MS)
  timer.unref()

  function count(chunk: Uint8Array): void {
    left -= chunk.byteLength
    if (left < 0) cut()
  }
  function cut(): void {
    stop()
    req.destroy()
  }
  function stop(): void {
    clearTimeout(timer)
    req.off('data', count)
    req.off('end', stop)
    req.off('close', stop)
  }
  req.on('data', count)
  req.on('end', stop)
  req.on('close', stop)
  req.resume()
}

function alreadyRead(req: NodeRequest, controller: ReadableStreamDefaultController<Uint8Array>): void {
  const length = req.headers['content-length']
  const empty = req.headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  if (empty) controller.close()
  else controller.error(new AgentwireError('body_already_read', ALREADY_READ))
}

const ALREADY_READ =
  'Middleware before this handler read the request body and did not set `req.body`. Mount the handler before it, or use a body parser that sets `req.body`.'
