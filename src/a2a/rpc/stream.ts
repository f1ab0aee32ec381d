import { formatSse, sseResponse } from '../../http/index.ts'
import type { FaceCall } from '../../requests/routes.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { StreamEntry } from '../model.ts'

/** Line ends for some clients, though not for JSON or event streams. */
const ODD_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** Frames that are sent together are at most so long, in characters, but for the last one. */
const CHUNK_LENGTH = 65_536

const encoder = new TextEncoder()

/** The frame of one JSON-RPC response, given as JSON. */
export const frameOf = (text: string, id?: string): string =>
  formatSse({
    id,
    data: text.replace(ODD_LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`),
  })

export interface StreamAnswer {
  readonly call: FaceCall
  readonly dialect: Dialect
  /** The JSON of the request's id. */
  readonly id: string
  /** Given the call whose signal aborts when the client is gone, also where only the response is cancelled. */
  readonly open: (call: FaceCall) => AsyncIterable<readonly StreamEntry[]>
  /** The JSON-RPC response for an error in the middle, as JSON. */
  readonly failed: (error: unknown) => string
}

/**
 * A response whose every event is a whole JSON-RPC response, pulled at the pace of its reader. Rejects where the stream fails before
 * its first entry. A later error is the last event.
 */
export async function streamResponse({ call, dialect, id, open, failed }: StreamAnswer): Promise<Response> {
  const gone = new AbortController()
  const leave = () => gone.abort(call.signal?.reason)
  if (call.signal?.aborted) leave()
  call.signal?.addEventListener('abort', leave)
  const release = () => call.signal?.removeEventListener('abort', leave)

  const head = `{"jsonrpc":"2.0","id":${id},"result":`
  let batches: AsyncIterator<readonly StreamEntry[]>
  let batch: IteratorResult<readonly StreamEntry[], unknown>
  try {
    batches = open({ ...call, signal: gone.signal })[Symbol.asyncIterator]()
    batch = await batches.next()
  } catch (error) {
    release()
    throw error
  }

  let sent = 0
  let isOver = false
  const next = async (): Promise<Uint8Array | undefined> => {
    if (isOver) return undefined
    let frames = ''
    try {
      while (!batch.done && sent === batch.value.length) {
        batch = await batches.next()
        sent = 0
      }
      while (!batch.done && sent < batch.value.length && frames.length < CHUNK_LENGTH) {
        const { id: eventId, item } = batch.value[sent++]!
        frames += frameOf(`${head}${JSON.stringify(dialect.writeItem(item))}}`, eventId)
      }
    } catch (error) {
      isOver = true
      if (error !== gone.signal.reason) frames += frameOf(failed(error))
    }
    return frames === '' ? undefined : encoder.encode(frames)
  }
  const cancel = () => {
    release()
    leave()
    // Nobody is left to be told that the end of reading failed.
    batches.return?.().catch(() => {})
  }
  return sseResponse({ next, cancel }, { signal: call.signal })
}
