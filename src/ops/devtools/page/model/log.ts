import type { EventData, EventMethod } from '../../../../messages/thread-events/index.ts'
import type { Frame } from './frames.ts'
import { isMiddleware } from './middleware.ts'

/** One event as the page keeps it. Its payload stays text until somebody looks at it. */
export interface LogEntry {
  readonly seq: number
  /** `gap` where the log has lost events. */
  readonly method: string
  /** What a client subscribes to, such as `messages` or `custom:progress`. */
  readonly channel: string
  readonly namespace: readonly string[]
  /** What kind of its method it is, such as `content-block-delta`. */
  readonly kind: string
  /** What its data names it to be about: a task, a call, an interrupt or a node. */
  readonly about: string | undefined
  /** Whether it was sent by a middleware step that neither failed nor asked a question. */
  readonly isMiddleware: boolean
  readonly bytes: number
  /** By the server's clock, in milliseconds since 1970. */
  readonly at: number
  /** Milliseconds since the event before. Undefined for the first. */
  readonly sinceLast: number | undefined
  /** Milliseconds from the server to the page. Undefined for events that were there before. */
  readonly latency: number | undefined
  readonly text: string
}

/** An event as the protocol sends it (docs/protocol.md §5.1). Its `method` tells what its `data` is. */
export type WireEvent = {
  [Method in EventMethod]: {
    readonly type: 'event'
    readonly seq: number
    readonly method: Method
    readonly params: {
      readonly namespace: readonly string[]
      readonly node?: string
      readonly timestamp: number
      readonly data: EventData[Method]
    }
  }
}[EventMethod]

/** Events that retention has dropped (docs/protocol.md §4.4). */
interface WireGap {
  readonly type: 'gap'
  readonly after: number
  readonly first_retained: number
}

/** The events of one thread, the newest ones: what is beyond the bounds is dropped, oldest first. */
export interface Log {
  readonly entries: readonly LogEntry[]
  /** How many events were dropped. */
  readonly dropped: number
  readonly bytes: number
  readonly last: number
  /** Adds a frame. Gives its event, or undefined for one that is known already and for a gap. */
  add(frame: Frame, arrival?: Arrival): WireEvent | undefined
}

/** By the server's clock, in milliseconds since 1970. */
export interface Arrival {
  readonly at: number
  /** When the stream was opened: older events were waiting, not in transit. */
  readonly openedAt: number
}

/** Dropping from the front of an array moves all of it, so it is done in parts of this many events. */
const DROP = 1_000

export function createLog(bounds: { readonly events: number; readonly bytes: number }, after = 0): Log {
  let entries: LogEntry[] = []
  let dropped = 0
  let bytes = 0
  let last = after

  function drop(): void {
    let count = 0
    let freed = 0
    while (count < entries.length - 1 && (count < DROP || bytes - freed > bounds.bytes))
      freed += entries[count++]!.bytes
    entries = entries.slice(count)
    dropped += count
    bytes -= freed
  }

  return {
    get entries() {
      return entries
    },
    get dropped() {
      return dropped
    },
    get bytes() {
      return bytes
    },
    get last() {
      return last
    },
    add(frame, arrival) {
      const event = JSON.parse(frame.data) as WireEvent | WireGap
      const entry =
        event.type === 'gap' ? gapOf(event, frame) : entryOf(event, frame, entries.at(-1), arrival)
      // A state that replaces lost events has the number of the last of them.
      if (entry.seq < last || (entry.seq === last && entries.at(-1)?.text === entry.text)) return undefined
      last = entry.seq
      entries.push(entry)
      bytes += entry.bytes
      if (entries.length > bounds.events + DROP || bytes > bounds.bytes) drop()
      return event.type === 'gap' ? undefined : event
    },
  }
}

function entryOf(
  event: WireEvent,
  { data: text, bytes }: Frame,
  before: LogEntry | undefined,
  arrival: Arrival | undefined,
): LogEntry {
  const { seq, method, params } = event
  const { namespace, timestamp: at } = params
  return {
    seq,
    method,
    channel: channelOf(event),
    namespace,
    kind: kindOf(event) ?? '',
    about: aboutOf(event),
    isMiddleware: isOfMiddleware(event),
    bytes,
    at,
    sinceLast: before && before.at > 0 ? Math.max(0, at - before.at) : undefined,
    latency: arrival && at >= arrival.openedAt ? Math.max(0, arrival.at - at) : undefined,
    text,
  }
}

function gapOf({ after, first_retained: first }: WireGap, { data: text, bytes }: Frame): LogEntry {
  const kind = `${first - after - 1} events are gone`
  const fields = { method: 'gap', channel: 'gap', namespace: [], kind, about: undefined, isMiddleware: false }
  return { ...fields, seq: first - 1, bytes, at: 0, sinceLast: undefined, latency: undefined, text }
}

function channelOf({ method, params }: WireEvent): string {
  if (method === 'input.requested') return 'input'
  return method === 'custom' && params.data.name != null ? `custom:${params.data.name}` : method
}

/** What tells the events of one channel apart at a glance. */
function kindOf({ method, params }: WireEvent): string | undefined {
  switch (method) {
    case 'tools':
      return params.data.event === 'tool-started'
        ? `${params.data.event} ${params.data.tool_name}`
        : params.data.event
    case 'tasks':
      return `${params.data.name} ${params.data.input === undefined ? 'done' : 'begins'}`
    case 'updates':
      return params.data.node
    case 'checkpoints':
      return `step ${params.data.step}`
    case 'lifecycle':
    case 'messages':
      return params.data.event
  }
}

function isOfMiddleware({ method, params }: WireEvent): boolean {
  const { namespace, node } = params
  if (method === 'input.requested') return false
  if (method === 'tasks') {
    const { name, error, interrupts } = params.data
    return isMiddleware(name) && !error && !(interrupts?.length > 0)
  }
  const names = [method === 'updates' ? params.data.node : node, ...namespace.map(nameOf)]
  return names.some((name) => name !== undefined && isMiddleware(name))
}

const nameOf = (segment: string): string => segment.replace(/:.*/, '')

function aboutOf({ method, params }: WireEvent): string | undefined {
  switch (method) {
    case 'tasks':
      return params.data.id
    case 'tools':
      return params.data.tool_call_id
    case 'messages':
      return params.data.run_id
    case 'updates':
      return params.data.node
    case 'input.requested':
      return params.data.interrupt_id
  }
}

export interface LogFilter {
  /** Empty: all. */
  readonly channels: ReadonlySet<string>
  /** A prefix, as one text. Empty: all. */
  readonly namespace: string
  readonly hidesMiddleware: boolean
}

export const namespaceText = (namespace: readonly string[]): string => namespace.join(' › ')

export const matches = ({ channels, namespace, hidesMiddleware }: LogFilter, entry: LogEntry): boolean =>
  entry.method === 'gap' ||
  (!(hidesMiddleware && entry.isMiddleware) &&
    (channels.size === 0 || channels.has(entry.channel)) &&
    (namespace === '' || `${namespaceText(entry.namespace)} › `.startsWith(`${namespace} › `)))

/** How far the page's clock is ahead of the server's, by the answer that took the least time. */
export function createClock(): {
  /** Takes an answer: when it was asked and came by the page's clock, and the server's clock in between. */
  note(sentAt: number, arrivedAt: number, serverTime: number): void
  /** The server's clock, now. Undefined before the first answer. */
  toServer(pageTime: number): number | undefined
} {
  let ahead: number | undefined
  let quickest = Number.POSITIVE_INFINITY
  return {
    note(sentAt, arrivedAt, serverTime) {
      const took = arrivedAt - sentAt
      if (took > quickest) return
      quickest = took
      ahead = (sentAt + arrivedAt) / 2 - serverTime
    },
    toServer: (pageTime) => (ahead === undefined ? undefined : pageTime - ahead),
  }
}
