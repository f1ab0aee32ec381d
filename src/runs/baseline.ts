import type { AgentEvent } from '../agents/agent.ts'
import type { RunContext } from './context.ts'
import type { Matcher } from './log/filter.ts'
import type { ThreadRecord } from './records/records.ts'
import { readState } from './threads/state.ts'

const encoder = new TextEncoder()

/**
 * Tells a client that events are gone. Of a type that clients of the protocol skip, so only those that know it act on it.
 * `after` is the last sequence number the client has, `firstRetained` the next one there is.
 */
export const gapFrame = (after: number, firstRetained: number): Uint8Array =>
  encoder.encode(
    `event: gap\ndata: ${JSON.stringify({ type: 'gap', after, first_retained: firstRetained })}\n\n`,
  )

/**
 * The root state as a pair of `checkpoints` and `values` events, for a subscriber whose log lacks it: after a restart, or
 * below the retained range. The step keeps clients from taking messages away; the id is one that no cursor is made of.
 */
export async function baselineFrames(
  context: RunContext,
  thread: ThreadRecord,
  wanted: Matcher,
  seq: number,
): Promise<readonly Uint8Array[]> {
  const snapshot = await readState(context, thread)
  if (!snapshot) return []
  const { checkpoint, parentCheckpoint, metadata, values } = snapshot
  const id = checkpoint.checkpointId
  const events: AgentEvent[] = [
    {
      method: 'checkpoints',
      namespace: [],
      data: {
        id,
        ...(parentCheckpoint && { parent_id: parentCheckpoint.checkpointId }),
        step: metadata.step,
        source: metadata.source,
      },
    },
    { method: 'values', namespace: [], data: values },
  ]
  return events
    .filter(({ method }) => wanted({ method, namespace: [], runId: '', detail: undefined }))
    .map((event) => encoder.encode(synthetic(event, `synth:${id}:${event.method}`, seq)))
}

function synthetic({ method, namespace, data }: AgentEvent, id: string, seq: number): string {
  const params = { namespace, timestamp: Date.now(), data }
  return `event: ${method}\ndata: ${JSON.stringify({ type: 'event', event_id: id, seq, method, params })}\n\n`
}
