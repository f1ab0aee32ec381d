import type { LogBatch, Store } from '../../storage/store/store.ts'
import type { Matcher } from './filter.ts'
import { SUPERSEDED, topicOf } from './frame.ts'

/** An event of a thread's log, for code that reads it in process. `data` has the protocol's own shape. */
export interface ThreadEvent {
  readonly type: 'event'
  /** Stable for ever: `<fencing token>-<seq>`; `synth:…` for a state that replaces events the log no longer has. */
  readonly eventId: string
  /** Its number in the log, from 1. A synthetic event has that of the last event before it. */
  readonly seq: number
  readonly method: string
  /** `[]` is the root. */
  readonly namespace: readonly string[]
  readonly node?: string | undefined
  /** Milliseconds since 1970. */
  readonly timestamp: number
  /** The run that sent it; empty for a synthetic event. */
  readonly runId: string
  readonly data: unknown
  /** It only takes back, for clients that follow the state, what a lost attempt of the run has sent. */
  readonly superseded?: true
}

/** Retention dropped events that the reader has not seen. The newest state follows. */
export interface LogGap {
  readonly type: 'gap'
  /** The last sequence number that the reader has. */
  readonly after: number
  /** The first sequence number that the log still has. */
  readonly firstRetained: number
}

interface FrameJson {
  readonly type: string
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: {
    readonly namespace: readonly string[]
    readonly timestamp: number
    readonly node?: string
    readonly data: unknown
  }
}

const decoder = new TextDecoder()

/** The wanted events of a batch. Frames of the log are parsed only here. */
export function decodeBatch(
  { bytes, offsets, count, origins, originOf }: LogBatch,
  wanted: Matcher,
): readonly ThreadEvent[] {
  const events: ThreadEvent[] = []
  for (let i = 0; i < count; i++) {
    const topic = topicOf(origins[originOf[i]!]!)
    if (!wanted(topic)) continue
    const event = eventOf(jsonOf(decoder.decode(bytes.subarray(offsets[i], offsets[i + 1]))), topic.runId)
    events.push(
      topic.detail === SUPERSEDED && event.method !== 'custom' ? { ...event, superseded: true } : event,
    )
  }
  return events
}

/** The events of frames that were made for one subscriber: a gap, a synthetic state. */
export function decodeFrames(frames: readonly Uint8Array[]): readonly (ThreadEvent | LogGap)[] {
  return frames.map((frame) => {
    const json = jsonOf(decoder.decode(frame))
    if (json.type !== 'gap') return eventOf(json, '')
    const { after, first_retained } = json as unknown as { after: number; first_retained: number }
    return { type: 'gap', after, firstRetained: first_retained }
  })
}

/** Parses what follows `data: ` on the frame's last line. */
const jsonOf = (frame: string): FrameJson => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7).trimEnd())

function eventOf({ event_id, seq, method, params }: FrameJson, runId: string): ThreadEvent {
  const { namespace, timestamp, node, data } = params
  return {
    type: 'event',
    eventId: event_id,
    seq,
    method,
    namespace,
    ...(node !== undefined && { node }),
    timestamp,
    runId,
    data,
  }
}

/** The wanted events that a log has now, after a sequence number. */
export async function* readLog(
  store: Store,
  threadId: string,
  wanted: Matcher,
  after = 0,
): AsyncGenerator<ThreadEvent> {
  for await (const events of readLogBatches(store, threadId, wanted, after))
    for (const event of events) yield event
}

/** The same, as many at a time as one read gives. */
export async function* readLogBatches(
  store: Store,
  threadId: string,
  wanted: Matcher,
  after: number,
): AsyncGenerator<readonly ThreadEvent[]> {
  for (;;) {
    const batch = await store.read(threadId, { after })
    if (batch.count === 0) return
    yield decodeBatch(batch, wanted)
    after = batch.first + batch.count - 1
  }
}
