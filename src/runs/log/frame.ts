import type { AgentEvent } from '../../events/index.ts'
import type { LogEvent, LogOrigin } from '../../storage/store/store.ts'

/** What subscribers filter an event by. Stored beside the event, so that routing does not parse its bytes. */
export interface Topic {
  readonly method: string
  readonly namespace: readonly string[]
  readonly runId: string
  /** The name of a `custom` event, the interrupt id of an `input.requested` event, or `SUPERSEDED`. */
  readonly detail: string | undefined
  /** The fencing token of its writer. */
  readonly token: number
}

/** The detail of an event that takes back what a lost attempt has sent. */
export const SUPERSEDED = 'superseded'

/** An agent's event, or one of the engine, which may mark it. */
export type RecordedEvent = AgentEvent & { readonly detail?: typeof SUPERSEDED }

const formatTopic = ({ method, namespace, runId, detail }: Omit<Topic, 'token'>): string =>
  JSON.stringify([method, namespace, runId, detail])

const parsed = new WeakMap<LogOrigin, Topic>()

/** Stores share origin objects between events, so each is parsed once. */
export function topicOf(origin: LogOrigin): Topic {
  let topic = parsed.get(origin)
  if (topic === undefined) {
    const [method, namespace, runId, detail] = JSON.parse(origin.topic) as [
      string,
      string[],
      string,
      string | null,
    ]
    topic = { method, namespace, runId, detail: detail ?? undefined, token: origin.token }
    parsed.set(origin, topic)
  }
  return topic
}

/** An event that has no sequence number yet. */
export interface PendingEvent {
  readonly method: string
  readonly topic: string
  /** `params` as JSON. */
  readonly params: string
}

const encoder = new TextEncoder()

/** The event's stable id: unique on the thread for ever, because tokens rise with every writer and seqs with every event. */
export const eventId = (token: number, seq: number): string => `${token}-${seq}`

/** The inverse of `eventId`, or undefined for ids that are not ours. */
export function parseEventId(id: string): { readonly token: number; readonly seq: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id)
  return match ? { token: Number(match[1]), seq: Number(match[2]) } : undefined
}

/** What events of one kind share. */
interface Kind {
  readonly topic: string
  readonly namespaceJson: string
}

/** How many kinds are remembered of a run. */
const MAX_KINDS = 100

/**
 * Serializes a run's events when they are sent, because the agent may change their data later. A run has few kinds of events: what
 * those of one kind share is formatted once. Throws what `JSON.stringify` throws for data that is not JSON.
 */
export function eventWriter(runId: string): (event: RecordedEvent) => PendingEvent {
  const kinds = new Map<string, Kind>()

  function kindOf({ method, namespace }: RecordedEvent, detail: string | undefined): Kind {
    // With lengths, because names may have any character.
    let key = detail === undefined ? method : `${method} ${detail.length}=${detail}`
    for (const segment of namespace) key += ` ${segment.length}:${segment}`
    let kind = kinds.get(key)
    if (!kind) {
      if (kinds.size === MAX_KINDS) kinds.clear()
      const topic = formatTopic({ method, namespace, runId, detail })
      kind = { topic, namespaceJson: JSON.stringify(namespace) }
      kinds.set(key, kind)
    }
    return kind
  }

  return (event) => {
    const { method, node } = event
    const { topic, namespaceJson } = kindOf(event, detailOf(event))
    const nodeJson = node === undefined ? '' : `"node":${JSON.stringify(node)},`
    const data = JSON.stringify(event.data) ?? 'null'
    return {
      method,
      topic,
      params: `{"namespace":${namespaceJson},"timestamp":${Date.now()},${nodeJson}"data":${data}}`,
    }
  }
}

export const pendingEvent = (event: AgentEvent, runId: string): PendingEvent => eventWriter(runId)(event)

/**
 * Encodes an event as the SSE frame that every subscriber is sent. The `data` line is one line because `JSON.stringify`
 * escapes line breaks, and it is the whole event, so other transports can cut it out of the frame.
 */
export function encodeFrame({ method, topic, params }: PendingEvent, token: number, seq: number): LogEvent {
  const id = eventId(token, seq)
  const frame =
    `id: ${id}\nevent: ${method}\ndata: {"type":"event","event_id":"${id}","seq":${seq},"method":"${method}",` +
    `"params":${params}}\n\n`
  return { topic, data: encoder.encode(frame) }
}

/** The mark of an event, the name of a custom event or the id of an interrupt. */
function detailOf(event: RecordedEvent): string | undefined {
  if (event.detail !== undefined) return event.detail
  if (event.method === 'input.requested') return interruptIdOf(event)
  // Agents are not checked. Any name that is not null can be subscribed to as a channel.
  const name: unknown = event.method === 'custom' ? event.data?.name : undefined
  return name === undefined || name === null ? undefined : String(name)
}

export function interruptIdOf({ data }: AgentEvent<'input.requested'>): string | undefined {
  const id: unknown = data?.interrupt_id
  return typeof id === 'string' ? id : undefined
}
