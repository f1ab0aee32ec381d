import type { AgentEvent } from '../../../src/index.ts'

const payloads = new Map<number, string>()

export function payload(size: number): string {
  const known = payloads.get(size) ?? 'x'.repeat(size)
  payloads.set(size, known)
  return known
}

export const customEvent = (size: number): AgentEvent => ({
  method: 'custom',
  namespace: [],
  data: { payload: payload(size) },
})

const encoder = new TextEncoder()
/** A fencing token as our servers have, a time in milliseconds. */
const WRITER = Date.now()

/** The frame of that event as a server of the protocol sends it. */
export const customFrame = (size: number, seq: number): Uint8Array =>
  encoder.encode(
    `id: ${WRITER}-${seq}\nevent: custom\ndata: ${JSON.stringify({
      type: 'event',
      event_id: `${WRITER}-${seq}`,
      seq,
      method: 'custom',
      params: { namespace: [], timestamp: Date.now(), data: { payload: payload(size) } },
    })}\n\n`,
  )
