import { encodeSse, sseResponse } from '../../http/index.ts'
import type { FaceCall } from '../../requests/routes.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { StreamEntry } from '../model.ts'

/** Line ends for some clients, though not for JSON or event streams. */
const ODD_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** The frame of one JSON-RPC response, given as JSON. */
export const frameOf = (text: string, id?: string): Uint8Array =>
  encodeSse({
    id,
    data: text.replace(ODD_LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`),
  })

export interface StreamAnswer {
  readonly call: FaceCall
  readonly dialect: Dialect
  /** The JSON of the request's id. */
  readonly id: string
  /** Given the call whose signal aborts when the client is gone, also where only the response is cancelled. */
  readonly open: (call: FaceCall) => AsyncIterable<StreamEntry>
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
  let entries: AsyncIterator<StreamEntry>
  let unsent: IteratorResult<StreamEntry> | undefined
  try {
    entries = open({ ...call, signal: gone.signal })[Symbol.asyncIterator]()
    unsent = await entries.next()
  } catch (error) {
    release()
    throw error
  }

  let isOver = false
  const next = async (): Promise<Uint8Array | undefined> => {
    if (isOver) return undefined
    try {
      const entry = unsent ?? (await entries.next())
      unsent = undefined
      if (entry.done) return undefined
      return frameOf(`${head}${JSON.stringify(dialect.writeItem(entry.value.item))}}`, entry.value.id)
    } catch (error) {
      isOver = true
      return error === gone.signal.reason ? undefined : frameOf(failed(error))
    }
  }
  const cancel = () => {
    release()
    leave()
    // Nobody is left to be told that the end of reading failed.
    entries.return?.().catch(() => {})
  }
  return sseResponse({ next, cancel }, { signal: call.signal })
}
