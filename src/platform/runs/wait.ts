import type { FaceCall } from '../../face/routes.ts'
import { jsonText, type OnError, originOf, reportError } from '../../http/index.ts'
import { RunError } from '../../runs/index.ts'
import { within } from '../../time.ts'
import type { Outcome } from './outcome.ts'

const BEAT_MS = 1_000
const encoder = /* @__PURE__ */ new TextEncoder()
const NEWLINE = /* @__PURE__ */ encoder.encode('\n')

/**
 * The end of a run as JSON. Where it takes longer than a second the response begins without it, with a newline every second, so that
 * no proxy takes the connection for a dead one.
 */
export async function whenEnded(
  call: FaceCall,
  outcome: Promise<Outcome>,
  { onError, headers }: { readonly onError: OnError | undefined; readonly headers: Record<string, string> },
): Promise<Response> {
  let ended: Outcome | undefined
  const settled = outcome.then((value) => {
    ended = value
  })
  settled.catch(() => {}) // Whoever waits below is told, and a client that is gone need not be.
  const look = async (): Promise<Outcome | undefined> => {
    await within(BEAT_MS, settled)
    return ended
  }
  const early = await look()
  if (early) return jsonText(early.body, { headers })
  const report = (error: unknown) => {
    if (!(error instanceof RunError)) reportError(error, onError, originOf(call.request, call.params))
  }
  let isRead = false
  let isGone = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isRead) return controller.close()
        try {
          const late = await look()
          if (isGone) return
          isRead = late !== undefined
          controller.enqueue(late ? encoder.encode(late.body) : NEWLINE)
        } catch (error) {
          report(error)
          controller.error(new DOMException('The stream was broken off.', 'AbortError'))
        }
      },
      cancel() {
        isGone = true
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'application/json', ...headers } })
}
