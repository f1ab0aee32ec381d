import { AgentwireError } from '../../core/errors.ts'
import { sourceOf, sseResponse } from '../../core/http/index.ts'
import { reporterOf } from '../kit/errors.ts'
import type { AgUiCall } from './call.ts'
import type { AgUiEvent } from './events.ts'

/** The maximum size of a chunk of frames, in characters, not counting its last frame. */
const CHUNK_LENGTH = 65_536

type Batches = AsyncIterable<readonly AgUiEvent[]>

/**
 * Events as server-sent events, pulled at the client's pace. Rejects if the stream cannot start. A later
 * failure becomes the last event, because clients treat a body that ends without one as a finished run.
 */
export async function eventStream(
  { context, call }: AgUiCall,
  open: (signal: AbortSignal) => Promise<Batches | undefined>,
): Promise<Response> {
  const { signal } = call
  const report = reporterOf(context, call)
  const source = sourceOf((left) => frames(open, left, report), signal)
  await source.ready()
  return sseResponse(source, { signal, onError: report })
}

async function* frames(
  open: (signal: AbortSignal) => Promise<Batches | undefined>,
  left: AbortSignal,
  report: (error: unknown) => void,
): AsyncGenerator<string, void, undefined> {
  const batches = await open(left)
  yield ''
  if (!batches) return
  try {
    for await (const events of batches) {
      let text = ''
      for (const event of events) {
        text += frameOf(event)
        if (text.length < CHUNK_LENGTH) continue
        yield text
        text = ''
      }
      yield text
    }
  } catch (error) {
    if (left.aborted) throw error
    report(error)
    yield frameOf(failure(error))
  }
}

const frameOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`

const failure = (error: unknown): AgUiEvent => {
  const isTold = error instanceof AgentwireError
  return {
    type: 'RUN_ERROR',
    message: isTold ? error.message : 'The server has failed.',
    code: isTold ? error.code : 'internal_error',
  }
}
