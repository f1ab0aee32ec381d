import { stateToJson } from '../../agents/immutable-json.ts'
import type { AgentEvent, LogGap, ThreadEvent } from '../../messages/thread-events/index.ts'
import type { LogEvent, LogOrigin } from '../../storage/store/store.ts'

/**
 * The codec of stored events: the only file that knows their byte format. The log stores each event as a
 * server-sent event frame, because most readers are sent these bytes.
 */

/**
 * The properties that subscribers filter events by. Stored with the event, so that routing does not parse its
 * bytes.
 */
export interface Topic {
  readonly method: string
  readonly namespace: readonly string[]
  readonly runId: string
  /**
   * The name of a `custom` event, the interrupt id of an `input.requested` event, or `SUPERSEDED`, `UNUSED` or
   * `OMITTED`.
   */
  readonly detail: string | undefined
  /** The fencing token of its writer. */
  readonly token: number
}

/** Whether a reader wants an event. */
export type Matcher = (topic: Topic) => boolean

/** The detail of an event that retracts the output of a lost attempt. */
export const SUPERSEDED = 'superseded'

/** The detail of the end of a message that its attempt does not keep. New subscribers get it, too. */
export const UNUSED = 'unused'

/** The detail of a `checkpoints` event in place of a state that is too long for an event. */
export const OMITTED = 'omitted'

/** An event from an agent or the engine. The engine may mark it. */
export type RecordedEvent = AgentEvent & {
  readonly detail?: typeof SUPERSEDED | typeof UNUSED | typeof OMITTED
}

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

/** The detail of an event's topic. */
function detailOf(event: RecordedEvent): string | undefined {
  if (event.detail !== undefined) return event.detail
  if (event.method === 'input.requested') return interruptIdOf(event)
  // Events of agents are not validated. Any name except null can be subscribed to as a channel.
  const name: unknown = event.method === 'custom' ? event.data?.name : undefined
  return name === undefined || name === null ? undefined : String(name)
}

export function interruptIdOf({ data }: AgentEvent<'input.requested'>): string | undefined {
  const id: unknown = data?.interrupt_id
  return typeof id === 'string' ? id : undefined
}

/** An event without a sequence number. */
export interface PendingEvent {
  readonly method: string
  readonly topic: string
  /** `params` as JSON. */
  readonly params: string
}

/** What events of one kind have in common. */
interface Kind {
  readonly topic: string
  readonly namespaceJson: string
}

/** The number of kinds to remember for a run. */
const MAX_KINDS = 100

/**
 * Serializes a run's events when they are sent, because the agent may change their data later. A run has few
 * kinds of events, so the common parts of each kind are formatted once. Throws the error of `JSON.stringify`
 * for data that are not JSON.
 */
export function eventWriter(runId: string): (event: RecordedEvent) => PendingEvent {
  const kinds = new Map<string, Kind>()

  function kindOf({ method, namespace }: RecordedEvent, detail: string | undefined): Kind {
    // The lengths are included, because names may contain any character.
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
    const data = (event.method === 'values' ? stateToJson(event.data) : JSON.stringify(event.data)) ?? 'null'
    return {
      method,
      topic,
      params: `{"namespace":${namespaceJson},"timestamp":${Date.now()},${nodeJson}"data":${data}}`,
    }
  }
}

export const pendingEvent = (event: AgentEvent, runId: string): PendingEvent => eventWriter(runId)(event)

const encoder = /* @__PURE__ */ new TextEncoder()
const decoder = /* @__PURE__ */ new TextDecoder()

/**
 * The event's stable id: unique on the thread, because tokens increase with every writer and sequence numbers
 * with every event.
 */
export const eventId = (token: number, seq: number): string => `${token}-${seq}`

/** The inverse of `eventId`. Undefined for ids in another format. */
export function parseEventId(id: string): { readonly token: number; readonly seq: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id)
  return match ? { token: Number(match[1]), seq: Number(match[2]) } : undefined
}

/**
 * Encodes an event as the SSE frame that every subscriber gets. The data is a single line, because
 * `JSON.stringify` escapes line breaks. It is the last line, and contains the whole event.
 */
export function encodeFrame({ method, topic, params }: PendingEvent, token: number, seq: number): LogEvent {
  const id = eventId(token, seq)
  const frame =
    `id: ${id}\nevent: ${method}\ndata: {"type":"event","event_id":"${id}","seq":${seq},"method":"${method}",` +
    `"params":${params}}\n\n`
  return { topic, data: encoder.encode(frame) }
}

/** Encodes an event that is in no log, created for one subscriber. Its id cannot be used as a cursor. */
export function encodeSynthetic(
  { method, namespace, data }: AgentEvent,
  checkpointId: string,
  seq: number,
): Uint8Array {
  const json: EventJson = {
    type: 'event',
    event_id: `synth:${checkpointId}:${method}`,
    seq,
    method,
    params: { namespace, timestamp: Date.now(), data },
  }
  return encodeData(method, json)
}

/**
 * Tells a client that events were dropped. Protocol clients skip unknown types, so only clients that know
 * this one handle it.
 */
export const encodeGap = ({ after, firstRetained }: LogGap): Uint8Array =>
  encodeData('gap', { type: 'gap', after, first_retained: firstRetained })

const encodeData = (event: string, json: EventJson | GapJson): Uint8Array =>
  encoder.encode(`event: ${event}\ndata: ${JSON.stringify(json)}\n\n`)

/** The JSON of an event created for one subscriber. */
export interface EventJson {
  readonly type: 'event'
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: Pick<ThreadEvent, 'namespace' | 'timestamp' | 'data'>
}

export interface GapJson {
  readonly type: 'gap'
  readonly after: number
  readonly first_retained: number
}

const LINE_FEED = 0x0a
const DATA_LINE = 'data: '
/** The first letter of the data line. No earlier line starts with it. */
const D = 0x64
/** The two line feeds at the end of a frame. */
const TAIL = 2

/** The offset at which the JSON of a frame begins. */
export function jsonStart(bytes: Uint8Array, frameStart: number): number {
  let at = frameStart
  while (bytes[at] !== D) {
    while (bytes[at] !== LINE_FEED) at++
    at++
  }
  return at + DATA_LINE.length
}

/** The offset at which the JSON of a frame ends. */
export const jsonEnd = (frameEnd: number): number => frameEnd - TAIL

/** The JSON of a frame as bytes. */
export const jsonBytes = (frame: Uint8Array): Uint8Array =>
  frame.subarray(jsonStart(frame, 0), jsonEnd(frame.length))

/** Parses a frame created for one subscriber. */
export const readSynthetic = (frame: Uint8Array): EventJson | GapJson =>
  JSON.parse(decoder.decode(jsonBytes(frame)))

const TIMESTAMP_KEY = '"timestamp":'
const NODE_KEY = '"node":'
const DATA_KEY = '"data":'
const END = '}}\n\n'

/** The parts of a stored frame that are not in its topic. */
export interface FrameBody extends Pick<ThreadEvent, 'timestamp' | 'node'> {
  /** The event's data as JSON. */
  readonly json: string
}

/**
 * Parses a frame of `encodeFrame`. The keys cannot occur earlier in the text, because the namespace and node
 * are escaped.
 */
export function readFrame(frame: Uint8Array): FrameBody {
  const text = decoder.decode(frame)
  const time = text.indexOf(TIMESTAMP_KEY) + TIMESTAMP_KEY.length
  const node = text.indexOf(',', time) + 1
  const data = text.indexOf(DATA_KEY, node)
  return {
    timestamp: Number(text.slice(time, node - 1)),
    node: data === node ? undefined : JSON.parse(text.slice(node + NODE_KEY.length, data - 1)),
    json: text.slice(data + DATA_KEY.length, text.length - END.length),
  }
}
