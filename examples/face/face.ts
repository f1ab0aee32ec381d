/** A face of its own: runs as newline-delimited JSON, one line for each event. */
import { HttpError } from 'agentwire'
import {
  createFace,
  type FaceCall,
  type FaceContext,
  type FaceRoute,
  type FaceSetup,
  reporterOf,
  requireThread,
  sourceOf,
  streamResponse,
} from 'agentwire/face'

// #region routes
const ROUTES: readonly FaceRoute<FaceContext>[] = [
  ['POST', '/lines/:thread_id', 'runs:create', postText],
  ['GET', '/lines/:thread_id', 'threads:stream', getLines],
]

export const lines = (setup: FaceSetup) => createFace(setup, { routes: ROUTES })
// #endregion

// #region start
/** `POST /lines/{thread_id}` with `{ text }`: starts a run, and sends its events until it has ended. */
async function postText(context: FaceContext, call: FaceCall): Promise<Response> {
  const { threadId, principal, request } = call
  const body = (await call.json()) as { readonly text?: unknown } | undefined
  if (typeof body?.text !== 'string') throw new HttpError(400, 'invalid_argument', 'text: expected a string.')
  const input = { messages: [{ role: 'user', content: body.text }] }
  const { runId } = await context.engine.start({ threadId, principal, input, request })
  return events(context, call, { runId })
}
// #endregion

/** `GET /lines/{thread_id}?after`: the events of the thread after a sequence number, past and future. */
async function getLines(context: FaceContext, call: FaceCall): Promise<Response> {
  const after = Number(call.url.searchParams.get('after') ?? 0)
  if (!Number.isSafeInteger(after) || after < 0)
    throw new HttpError(400, 'invalid_argument', 'after: expected a sequence number, such as 12.')
  await requireThread(context, call)
  return events(context, call, { after })
}

// #region stream
function events(
  context: FaceContext,
  call: FaceCall,
  which: { readonly runId: string } | { readonly after: number },
): Response {
  const { threadId, principal, signal } = call
  async function* read(left: AbortSignal) {
    // A reader that leaves stops nothing: the run goes on, and its events can be read again.
    const asked = { threadId, principal, ...which, signal: left, batches: true } as const
    for await (const batch of context.engine.events(asked))
      yield batch.map((event) => `${JSON.stringify(event)}\n`).join('')
  }
  return streamResponse(sourceOf(read, signal), FRAMING, { signal, onError: reporterOf(context, call) })
}
// #endregion

/** Readers skip empty lines. */
const FRAMING = {
  headers: {
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
  },
  heartbeat: new TextEncoder().encode('\n'),
}
