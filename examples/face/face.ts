/** A custom protocol: runs as newline-delimited JSON, one line per event. */
import { HttpError } from 'agentwire'
import {
  createFace,
  type FaceCall,
  type FaceContext,
  type FaceRow,
  type FaceSetup,
  reporterOf,
  requireThread,
  route,
  sourceOf,
  streamResponse,
} from 'agentwire/face'

const ROUTES: readonly FaceRow<FaceContext>[] = [
  route('POST', '/lines/:thread_id', {
    permission: 'runs:create',
    summary: 'Start an answer, and stream its events.',
    streams: true,
    run: postText,
  }),
  route('GET', '/lines/:thread_id', {
    permission: 'threads:stream',
    summary: 'Stream the events of a thread.',
    query: { after: { type: 'integer' } },
    streams: true,
    run: getLines,
  }),
]

export const lines = (setup: FaceSetup) => createFace(setup, { routes: ROUTES })

/**
 * `POST /lines/{thread_id}` with `{ text }`: starts an answer and sends its events until it ends or raises an
 * interrupt.
 */
async function postText(context: FaceContext, call: FaceCall): Promise<Response> {
  const { threadId, principal, request } = call
  const body = (await call.json()) as { readonly text?: unknown } | undefined
  if (typeof body?.text !== 'string') throw new HttpError(400, 'invalid_argument', 'text: expected a string.')
  const input = { messages: [{ role: 'user', content: body.text }] }
  return lined(context, call, (signal) =>
    context.engine.follow({ threadId, principal, start: { input, request }, batches: true, signal }),
  )
}

/** `GET /lines/{thread_id}?after`: the thread's events after a sequence number, past and future. */
async function getLines(context: FaceContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const after = Number(call.url.searchParams.get('after') ?? 0)
  if (!Number.isSafeInteger(after) || after < 0)
    throw new HttpError(400, 'invalid_argument', 'after: expected a sequence number, such as 12.')
  await requireThread(context, call)
  return lined(context, call, async (signal) =>
    context.engine.events({ threadId, principal, after, batches: true, signal }),
  )
}

async function lined(
  context: FaceContext,
  call: FaceCall,
  open: (left: AbortSignal) => Promise<AsyncIterable<readonly object[]>>,
): Promise<Response> {
  const { signal } = call
  async function* read(left: AbortSignal) {
    const batches = await open(left)
    yield ''
    // If the client disconnects, the answer continues, and its events can be read again.
    for await (const batch of batches) yield batch.map((event) => `${JSON.stringify(event)}\n`).join('')
  }
  const source = sourceOf(read, signal)
  // An error before the first part gets its own response status.
  await source.ready()
  return streamResponse(source, FRAMING, { signal, onError: reporterOf(context, call) })
}

/** Readers skip empty lines, so a newline is a heartbeat. */
const FRAMING = {
  headers: {
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
  },
  heartbeat: new TextEncoder().encode('\n'),
}
