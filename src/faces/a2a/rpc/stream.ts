import { sourceOf, sseResponse } from '../../../core/http/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { StreamEntry } from '../model.ts'
import { frameOf, frameWriter } from './items.ts'

/** The maximum length of frames that are sent together, in characters, not counting the last one. */
const CHUNK_LENGTH = 65_536

export interface StreamAnswer {
  readonly call: FaceCall
  readonly dialect: Dialect
  /** The JSON of the request's id. */
  readonly id: string
  /**
   * Called with a call whose signal aborts when the client disconnects, even if only the response is
   * cancelled.
   */
  readonly open: (call: FaceCall) => Promise<AsyncIterable<readonly StreamEntry[]>>
  /** The JSON-RPC response for an error during the stream, as JSON. */
  readonly failed: (error: unknown) => string
}

/**
 * A response in which every event is a complete JSON-RPC response, pulled at the reader's pace. Rejects if
 * the stream fails before its first batch. A later error is the last event.
 */
export async function rpcStream(answer: StreamAnswer): Promise<Response> {
  const { signal } = answer.call
  const source = sourceOf((gone) => rpcFrames(answer, gone), signal)
  await source.ready()
  return sseResponse(source, { signal })
}

async function* rpcFrames(
  { call, dialect, id, open, failed }: StreamAnswer,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const write = frameWriter(dialect, id)
  let hasBegun = false
  let frames = ''
  try {
    for await (const batch of await open({ ...call, signal })) {
      hasBegun = true
      for (const { id: eventId, item } of batch) {
        frames += write(item, eventId)
        if (frames.length < CHUNK_LENGTH) continue
        yield frames
        frames = ''
      }
      yield frames
      frames = ''
    }
  } catch (error) {
    if (!hasBegun) throw error
    if (error !== signal.reason) yield frames + frameOf(failed(error))
  }
}
