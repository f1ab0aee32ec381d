import { createTicker, jsonText, streamResponse } from '../../../core/http/index.ts'
import { within } from '../../../core/time.ts'
import { reporterOf } from '../../kit/errors.ts'
import type { FaceCall, FaceContext } from '../../kit/routes.ts'
import type { Outcome } from '../frames/outcome.ts'

const BEAT_MS = 1_000
const beats = /* @__PURE__ */ createTicker(BEAT_MS)
const encoder = /* @__PURE__ */ new TextEncoder()
const NEWLINE = /* @__PURE__ */ encoder.encode('\n')

/**
 * The end of a run as JSON. If it takes longer than a second, the response starts without it and sends a
 * newline every second, so that no proxy closes the connection.
 */
export async function whenEnded(
  context: FaceContext,
  call: FaceCall,
  outcome: Promise<Outcome>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  let ended: Outcome | undefined
  const settled = outcome.then((value) => {
    ended = value
  })
  await within(BEAT_MS, settled)
  if (ended) return jsonText(ended.body, { headers })
  settled.catch(() => {}) // A client that is still connected gets it below.
  let isRead = false
  const source = {
    async next() {
      if (isRead) return undefined
      const { body } = await outcome
      isRead = true
      return encoder.encode(body)
    },
    cancel() {},
  }
  const framing = { headers: { 'content-type': 'application/json', ...headers }, heartbeat: NEWLINE }
  return streamResponse(source, framing, { onError: reporterOf(context, call), ticker: beats })
}
