import type { LogGap, LoggedEvent, ThreadEvent } from '../../events/index.ts'
import type { LogBatch, Store } from '../../storage/store/store.ts'
import type { Matcher } from './filter.ts'
import { eventId, SUPERSEDED, type Topic, topicOf } from './frame.ts'

const decoder = new TextDecoder()

/** What `encodeFrame` writes before the data of an event, and behind it. */
const TIMESTAMP = '"timestamp":'
const DATA = '"data":'
const END = '}}\n\n'

class EventOfLog implements Omit<LoggedEvent, 'method' | 'data'> {
  readonly type = 'event'
  readonly eventId: string
  readonly method: string
  readonly namespace: readonly string[]
  readonly runId: string
  readonly superseded?: true
  readonly seq: number
  readonly #frame: Uint8Array
  #head: Pick<ThreadEvent, 'timestamp' | 'node'> | undefined
  #json: string | undefined

  constructor({ method, namespace, runId, detail, token }: Topic, seq: number, frame: Uint8Array) {
    this.eventId = eventId(token, seq)
    this.method = method
    this.namespace = namespace
    this.runId = runId
    this.seq = seq
    this.#frame = frame
    if (detail === SUPERSEDED && method !== 'custom') this.superseded = true
  }

  /** Before the data there are neither objects nor text of others but the namespace and the node, in whose JSON no key is found. */
  #read(): void {
    const text = decoder.decode(this.#frame)
    const head = text.indexOf(TIMESTAMP)
    const data = text.indexOf(DATA, head)
    this.#head = JSON.parse(`{${text.slice(head, data - 1)}}`)
    this.#json = text.slice(data + DATA.length, text.length - END.length)
  }

  get json(): string {
    if (this.#json === undefined) this.#read()
    return this.#json!
  }

  get data(): unknown {
    return JSON.parse(this.json)
  }

  get timestamp(): number {
    if (this.#head === undefined) this.#read()
    return this.#head!.timestamp
  }

  get node(): string | undefined {
    if (this.#head === undefined) this.#read()
    return this.#head!.node
  }
}

/** The one place where bytes of the log become an event: writers give each method its own data. */
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

/** An event without its text, as code outside of this library is given it. */
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

/** The events of frames that were made for one subscriber: a gap, a synthetic state. */
export function decodeFrames(frames: readonly Uint8Array[]): readonly (LoggedEvent | LogGap)[] {
  return frames.map((frame) => {
    const text = decoder.decode(frame)
    const json = JSON.parse(text.slice(text.indexOf('\ndata: ') + 7)) as FrameJson | GapJson
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
}

interface FrameJson {
  readonly type: 'event'
  readonly event_id: string
  readonly seq: number
  readonly method: 'checkpoints' | 'values'
  readonly params: Pick<ThreadEvent, 'namespace' | 'timestamp' | 'data'>
}

interface GapJson {
  readonly type: 'gap'
  readonly after: number
  readonly first_retained: number
}

/** The wanted events that a log has now, after a sequence number. */
export async function* readLog(
  store: Store,
  threadId: string,
  wanted: Matcher,
  after = 0,
): AsyncGenerator<LoggedEvent> {
  for await (const events of readLogBatches(store, threadId, wanted, after))
    for (const event of events) yield event
}

/** The same, as many at a time as one read gives. */
export async function* readLogBatches(
  store: Store,
  threadId: string,
  wanted: Matcher,
  after: number,
): AsyncGenerator<readonly LoggedEvent[]> {
  for (;;) {
    const batch = await store.read(threadId, { after })
    if (batch.count === 0) return
    yield decodeBatch(batch, wanted)
    after = batch.first + batch.count - 1
    if (after >= batch.head) return
  }
}
