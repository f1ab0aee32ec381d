import type { FaceCall } from '../../face/routes.ts'
import { sourceOf, sseResponse } from '../../http/index.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { StreamEntry } from '../model.ts'
import { frameOf, frameWriter } from './items.ts'

/** Frames that are sent together are at most so long, in characters, but for the last one. */
const CHUNK_LENGTH = 65_536

export interface StreamAnswer {
  readonly call: FaceCall
  readonly dialect: Dialect
  /** The JSON of the request's id. */
  readonly id: string
  /** Given the call whose signal aborts when the client is gone, also where only the response is cancelled. */
  readonly open: (call: FaceCall) => Promise<AsyncIterable<readonly StreamEntry[]>>
  /** The JSON-RPC response for an error in the middle, as JSON. */
  readonly failed: (error: unknown) => string
}

/**
 * A response whose every event is a whole JSON-RPC response, pulled at the pace of its reader. Rejects where the stream fails before
 * its first batch. A later error is the last event.
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
