import type { LogGap, LoggedEvent, ThreadEvent } from '../../messages/thread-events/index.ts'
import type { LogBatch, ReadQuery, Store } from '../../storage/store/store.ts'
import {
  eventId,
  type FrameBody,
  type Matcher,
  readFrame,
  readSynthetic,
  SUPERSEDED,
  type Topic,
  topicOf,
  UNUSED,
} from './frame.ts'

class EventOfLog implements Omit<LoggedEvent, 'method' | 'data'> {
  readonly type = 'event'
  readonly eventId: string
  readonly method: string
  readonly namespace: readonly string[]
  readonly runId: string
  readonly superseded?: true
  readonly seq: number
  readonly #frame: Uint8Array
  #body: FrameBody | undefined
  #data: unknown

  constructor({ method, namespace, runId, detail, token }: Topic, seq: number, frame: Uint8Array) {
    this.eventId = eventId(token, seq)
    this.method = method
    this.namespace = namespace
    this.runId = runId
    this.seq = seq
    this.#frame = frame
    if ((detail === SUPERSEDED || detail === UNUSED) && method !== 'custom') this.superseded = true
  }

  get #read(): FrameBody {
    this.#body ??= readFrame(this.#frame)
    return this.#body
  }

  get json(): string {
    return this.#read.json
  }

  get data(): unknown {
    this.#data ??= JSON.parse(this.json)
    return this.#data
  }

  get timestamp(): number {
    return this.#read.timestamp
  }

  get node(): string | undefined {
    return this.#read.node
  }
}

/** Asserts that an event's data match its method, because writers of the log ensure it. */
const loggedEvent = (topic: Topic, seq: number, frame: Uint8Array): LoggedEvent =>
  new EventOfLog(topic, seq, frame) as unknown as LoggedEvent

/** The wanted events of a batch. */
export function decodeBatch(
  { bytes, offsets, count, origins, originOf, first }: LogBatch,
  wanted: Matcher,
): readonly LoggedEvent[] {
  const events: LoggedEvent[] = []
  for (let i = 0; i < count; i++) {
    const topic = topicOf(origins[originOf[i]!]!)
    if (wanted(topic)) events.push(loggedEvent(topic, first + i, bytes.subarray(offsets[i], offsets[i + 1])))
  }
  return events
}

/** An event without its JSON text, for code outside this library. */
export function plainEvent(event: ThreadEvent): ThreadEvent {
  const { type, eventId, seq, method, namespace, node, timestamp, runId, data, superseded } = event
  return {
    type,
    eventId,
    seq,
    method,
    namespace,
    ...(node !== undefined && { node }),
    timestamp,
    runId,
    data,
    ...(superseded && { superseded }),
  } as ThreadEvent
}

/** The events of frames created for one subscriber: a gap, a synthetic state. */
export const decodeFrames = (frames: readonly Uint8Array[]): readonly (LoggedEvent | LogGap)[] =>
  frames.map((frame) => {
    const json = readSynthetic(frame)
    if (json.type === 'gap') return { type: 'gap', after: json.after, firstRetained: json.first_retained }
    const { type, event_id: eventId, seq, method, params } = json
    return {
      type,
      eventId,
      seq,
      method,
      ...params,
      runId: '',
      json: JSON.stringify(params.data),
    } as LoggedEvent
  })

/** The wanted events currently in a log, after a sequence number. */
export async function* readLog(
  store: Store,
  threadId: string,
  wanted: Matcher,
  after = 0,
): AsyncGenerator<LoggedEvent> {
  for await (const events of readLogBatches(logReader(store, threadId), wanted, after))
    for (const event of events) yield event
}

export type BatchReader = (query: ReadQuery) => Promise<LogBatch>

export const logReader =
  (store: Store, threadId: string): BatchReader =>
  (query) =>
    store.read(threadId, query)

/** The same, in the batches that the reads return. */
export async function* readLogBatches(
  read: BatchReader,
  wanted: Matcher,
  after: number,
): AsyncGenerator<readonly LoggedEvent[]> {
  for (;;) {
    const batch = await read({ after })
    if (batch.count === 0) return
    yield decodeBatch(batch, wanted)
    after = batch.first + batch.count - 1
    if (after >= batch.head) return
  }
}

/** The form of events that a reader wants. */
export interface EventForm<Json extends boolean = boolean, Batches extends boolean = boolean> {
  /**
   * Whether events also have their data as JSON text. Each access to `data` then parses the text, which is
   * efficient for code that passes most events on unread. Default: false.
   */
  readonly json?: Json | undefined
  /**
   * Whether events come in batches, for code that sends them together. A batch may be empty. Default: false.
   */
  readonly batches?: Batches | undefined
}

/** An event in the requested form, or a batch of events. A batch may be empty. */
export type EventItem<Json extends boolean, Batches extends boolean> = Batches extends true
  ? readonly EventOf<Json>[]
  : EventOf<Json>

/** A gap replaces events that the log no longer has. */
export type EventOf<Json extends boolean> = (Json extends true ? LoggedEvent : ThreadEvent) | LogGap

/** The events of a subscription, in the requested form. */
export type EventStream<Json extends boolean, Batches extends boolean> = AsyncGenerator<
  EventItem<Json, Batches>,
  void,
  undefined
>

/** Logged events, in batches. */
export type LoggedEvents = AsyncGenerator<readonly (LoggedEvent | LogGap)[], void, undefined>

/** Converts logged events to the requested form. */
export async function* inForm(
  source: LoggedEvents,
  { json = false, batches = false }: EventForm,
): EventStream<boolean, boolean> {
  for await (const logged of source) {
    const events = formed(logged, { json })
    if (batches) yield events
    else yield* events
  }
}

/** The events of one batch in that form. */
export const formed = (
  logged: readonly (LoggedEvent | LogGap)[],
  { json = false }: Pick<EventForm, 'json'>,
): readonly EventOf<boolean>[] =>
  json ? logged : logged.map((event) => (event.type === 'gap' ? event : plainEvent(event)))
