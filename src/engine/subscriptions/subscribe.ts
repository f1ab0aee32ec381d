import {
  isRunEnd,
  type LogGap,
  type LoggedEvent,
  type ThreadEvent,
} from '../../messages/thread-events/index.ts'
import { UnavailableError } from '../../storage/errors.ts'
import type { LogBatch } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import { type BatchReader, decodeFrames, type LoggedEvents, readLogBatches } from '../log/decode.ts'
import { checkChannels, createMatcher } from '../log/filter.ts'
import { encodeGap, type Matcher, OMITTED, type Topic, topicOf } from '../log/frame.ts'
import type { LogWatcher, SubscriberEnd } from '../log/watchers.ts'
import type { ThreadRecord } from '../records/records.ts'
import type { Owned, ThreadEvents, ThreadSubscription } from '../requests.ts'
import { findThread } from '../threads/threads.ts'
import { baselineFrames, type LogCursor, locateStart, type ReplayStart } from './replay.ts'
import { AS_EVENTS, type Rendering, type Subscription } from './subscription.ts'
import { waitForEnd } from './wait-for-end.ts'

export const subscribe = <Chunk>(
  context: RunContext,
  request: Owned<ThreadSubscription>,
  rendering: Rendering<Chunk>,
): Subscription<Chunk> => {
  checkChannels(request.filter)
  return subscribeAs(context, request, createMatcher(request.filter), rendering)
}

/** How far a subscriber has read. */
interface Reader<Chunk> {
  readonly context: RunContext
  readonly request: LogCursor
  readonly filter: Matcher
  readonly rendering: Rendering<Chunk>
  readonly watcher: LogWatcher
  from: LogCursor
  start: ReplayStart | undefined
  /** Frames to send before the next events of the log. */
  prologue: readonly Uint8Array[]
  after: number
  /** Whether the newest root state so far was too long for an event. */
  isStateOmitted: boolean
  /** The wake-up count when the log was last read to its head. Until it changes there is nothing to read. */
  atHead: number | undefined
  /** The change count when the thread was last read. */
  seenChanges: number
  outdated: boolean
  /** The wake-up count when the thread did not exist. Until it changes the thread does not exist. */
  absentAt: number | undefined
  isDeleted: boolean
  ended: SubscriberEnd | undefined
  cancelled: boolean
}

export function subscribeAs<Chunk>(
  context: RunContext,
  request: LogCursor,
  filter: Matcher,
  rendering: Rendering<Chunk>,
): Subscription<Chunk> {
  const reader: Reader<Chunk> = {
    context,
    request,
    filter,
    rendering,
    watcher: context.watchers.open(request.threadId, (how) => end(reader, how)),
    from: request,
    start: undefined,
    prologue: [],
    after: 0,
    isStateOmitted: false,
    atHead: undefined,
    seenChanges: 0,
    outdated: false,
    absentAt: undefined,
    isDeleted: false,
    ended: undefined,
    cancelled: false,
  }
  return { ready: () => ready(reader), next: () => next(reader), cancel: () => cancel(reader) }
}

function end(reader: Reader<unknown>, how: SubscriberEnd): void {
  if (!reader.start && how.at === 'once') {
    // It has read nothing of the deleted thread, so it continues to wait for one.
    reader.outdated = true
    return
  }
  reader.ended ??= how
  reader.watcher.close()
}

function cancel(reader: Reader<unknown>): void {
  reader.cancelled = true
  reader.watcher.close()
}

async function ready(reader: Reader<unknown>): Promise<void> {
  try {
    do {
      reader.absentAt = reader.watcher.wakeUps()
    } while (!(await begin(reader)) && reader.outdated)
    if (reader.isDeleted) throw deleted()
  } catch (error) {
    cancel(reader)
    throw error
  }
}

async function next<Chunk>(reader: Reader<Chunk>): Promise<Chunk | undefined> {
  while (!reader.cancelled) {
    const seen = reader.watcher.wakeUps()
    if (seen === (reader.start ? reader.atHead : reader.absentAt) && !reader.ended) {
      await reader.watcher.wait(seen)
      continue
    }
    // Taken before the read, so that the read returns everything that was written before the end.
    const last = reader.ended
    const chunk = await attempt(reader, seen)
    if (reader.cancelled) break
    if (reader.ended?.at === 'once') throw reader.ended.reason
    if (chunk !== undefined && chunk !== null) return chunk
    if (chunk === null) continue
    if (last) throw last.reason
    await reader.watcher.wait(seen)
  }
  return undefined
}

/** Undefined means that the caller should wait for a wake-up, null that it should try again immediately. */
async function attempt<Chunk>(reader: Reader<Chunk>, wakeUps: number): Promise<Chunk | undefined | null> {
  try {
    if (!reader.start && !(await begin(reader))) return reader.outdated ? null : undefined
    if (reader.prologue.length === 0) return await read(reader, reader.start!, wakeUps)
    const first = reader.rendering.frames(reader.prologue)
    reader.prologue = []
    return first
  } catch (error) {
    // A shared store will be available again. Its notifications, or the watchers' timer, then wake this
    // subscriber.
    if (error instanceof UnavailableError && reader.context.store.capabilities.shared) return undefined
    throw error
  }
}

async function begin(reader: Reader<unknown>): Promise<boolean> {
  reader.outdated = false
  reader.seenChanges = reader.watcher.changes()
  const found = await locateStart(reader.context, reader.from, reader.filter)
  reader.isDeleted = found === 'deleted'
  if (reader.outdated || !found || found === 'deleted') return false
  reader.start = found
  reader.after = found.after
  reader.prologue = found.prologue
  reader.rendering.begun?.(reader.after)
  return true
}

async function read<Chunk>(
  reader: Reader<Chunk>,
  { ranges, createdAt }: ReplayStart,
  wakeUps: number,
): Promise<Chunk | undefined | null> {
  const { until, wanted, endsWithState } = ranges.find((range) => reader.after < range.until)!
  const limit = until === Number.POSITIVE_INFINITY ? {} : { limit: Math.min(until - reader.after, MAX_BATCH) }
  const batch = await reader.watcher.read({ after: reader.after, ...limit })
  if (mayBeRecreated(reader, batch)) {
    const thread = await findThread(reader.context, reader.request)
    if (!thread || (createdAt !== null && thread.createdAt !== createdAt)) throw deleted()
  }
  const { store } = reader.context
  if (batch.head < reader.after && (await store.inspect(reader.request.threadId)).head < reader.after) {
    if (!(await findThread(reader.context, reader.request))) throw deleted()
    return restart(reader)
  }
  if (batch.count === 0) return undefined
  if (batch.first > reader.after + 1) return skipGap(reader, batch.first)
  reader.after = batch.first + batch.count - 1
  reader.watcher.moved(reader.after, batch.head)
  if (endsWithState) await noteStates(reader, batch, until)
  if (reader.prologue.length === 0 && reader.after === batch.head && reader.watcher.isFresh(wakeUps))
    reader.atHead = wakeUps
  return reader.rendering.batch(batch, wanted) ?? null
}

/**
 * After the past events comes the newest state, if its own event was left out: otherwise a new subscriber
 * would take an earlier, shorter state for it.
 */
async function noteStates(
  reader: Reader<unknown>,
  { count, origins, originOf }: LogBatch,
  until: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { method, namespace, detail } = topicOf(origins[originOf[i]!]!)
    if (namespace.length > 0) continue
    if (method === 'values') reader.isStateOmitted = false
    else if (method === 'checkpoints' && detail === OMITTED) reader.isStateOmitted = true
  }
  if (reader.after < until || !reader.isStateOmitted) return
  reader.isStateOmitted = false
  const thread = await findThread(reader.context, reader.request)
  if (thread) reader.prologue = await baselineFrames(reader.context, thread, reader.filter, reader.after)
}

/**
 * Whether the events that were read before no longer exist: the log was trimmed, or the thread was deleted
 * and this is the log of a new one with the same id. An empty log looks the same if the store lost
 * everything, which it does not announce.
 */
function mayBeRecreated(reader: Reader<unknown>, { firstRetained, count, head }: LogBatch): boolean {
  if (firstRetained <= reader.after) return false
  // The changes of other processes are announced late.
  if (reader.context.store.capabilities.shared && (count > 0 || head === 0)) return true
  const changes = reader.watcher.changes()
  if (changes === reader.seenChanges) return false
  reader.seenChanges = changes
  return true
}

/**
 * Starts again after the store lost events that this reader has received, like a store without a file does
 * when it ends, and contains the thread again. All events in it are new.
 */
function restart(reader: Reader<unknown>): null {
  const hadCursor = reader.from.since !== undefined || reader.from.lastEventId !== undefined
  reader.from = {
    ...reader.request,
    since: hadCursor ? 0 : undefined,
    lastEventId: undefined,
    known: undefined,
  }
  reader.start = undefined
  reader.after = 0
  return null
}

/**
 * Sends a gap and the newest state to a reader that was too slow, because the log dropped the next events.
 */
async function skipGap<Chunk>(reader: Reader<Chunk>, firstRetained: number): Promise<Chunk> {
  const missed = { after: reader.after, firstRetained }
  reader.after = firstRetained - 1
  return reader.rendering.frames(await gapFrames(reader.context, reader.request, reader.filter, missed))
}

/** A gap, and the newest state, which contains what the dropped events led to. */
async function gapFrames(
  context: RunContext,
  request: LogCursor,
  filter: Matcher,
  { after, firstRetained }: Omit<LogGap, 'type'>,
): Promise<readonly Uint8Array[]> {
  const gap = encodeGap({ type: 'gap', after, firstRetained })
  const thread = await findThread(context, request)
  return thread ? [gap, ...(await baselineFrames(context, thread, filter, firstRetained - 1))] : [gap]
}

const deleted = (): RunError => new RunError('no_such_thread', 'The thread was deleted.')

/** The maximum of events in one read. The store limits the bytes. */
const MAX_BATCH = 1_000

/** The runs of one thread to read, in order. */
export interface RunsRequest extends Omit<Owned<ThreadEvents>, 'runId'> {
  /** All runs except the last have ended when the last one begins. */
  readonly runIds: readonly string[]
  /** The thread of the runs, if the caller has just read it. */
  readonly known?: ThreadRecord | undefined
}

/** The events of runs until the last one has ended, wherever it executes. */
export async function* readRunLog(context: RunContext, request: RunsRequest): LoggedEvents {
  const { threadId, runIds, after = 0, signal } = request
  signal?.throwIfAborted()
  const filter = filterOf(request)
  const wanted = ofRuns(new Set(runIds), filter)
  const isShown = isShownOf(filter)
  const last = runIds.at(-1)!
  const over = new AbortController()
  const stopWaiting = new AbortController()
  // The log may have no terminal event of the run, for example if the run was dropped while it was waiting.
  waitForEnd(context, threadId, last, stopWaiting.signal).then(
    () => over.abort(null),
    () => {}, // An error that fails this wait also ends the subscription.
  )
  let seen = after
  // Not a loop over `readLive`, which would cost every event another promise.
  const { next, cancel } = openLive(context, { ...request, since: after }, wanted, over.signal)
  try {
    for (let events = await next(); events; events = await next()) {
      yield events.filter(isShown)
      if (events.some((event) => isEndOf(event, last))) return
      const newest = events.at(-1)
      if (newest?.type === 'event') seen = newest.seq
    }
    signal?.throwIfAborted()
    if (!over.signal.aborted) return
    // The subscription may have been cancelled before it noticed that the log was trimmed.
    let firstRetained: number | undefined
    const read: BatchReader = async (query) => {
      const batch = await context.store.read(threadId, query)
      firstRetained ??= batch.firstRetained
      return batch
    }
    const rest = readLogBatches(read, wanted, seen)
    let batch = await rest.next()
    if (firstRetained !== undefined && firstRetained > seen + 1)
      yield decodeFrames(await gapFrames(context, request, wanted, { after: seen, firstRetained }))
    for (; !batch.done; batch = await rest.next()) yield batch.value.filter(isShown)
  } finally {
    cancel()
    stopWaiting.abort(null) // Without a reason, `abort` creates an error with a stack that is never read.
  }
}

/** The events of a subscription until it is `over`. Throws the signal's reason if the signal ends it. */
export async function* readLive(
  context: RunContext,
  { signal, ...from }: LogCursor & Pick<ThreadEvents, 'signal'>,
  wanted: Matcher,
): LoggedEvents {
  const { next, cancel } = openLive(context, { ...from, signal }, wanted)
  try {
    for (let events = await next(); events; events = await next()) yield events
    signal?.throwIfAborted()
  } finally {
    cancel()
  }
}

/** A subscription that ends when one of the signals aborts. */
function openLive(
  context: RunContext,
  { signal, ...from }: LogCursor & Pick<ThreadEvents, 'signal'>,
  wanted: Matcher,
  over?: AbortSignal,
) {
  const { next, cancel: close } = subscribeAs(context, from, wanted, AS_EVENTS)
  for (const stop of [signal, over]) {
    stop?.addEventListener('abort', close)
    // What has aborted before tells nobody again.
    if (stop?.aborted) close()
  }
  const cancel = () => {
    for (const stop of [signal, over]) stop?.removeEventListener('abort', close)
    close()
  }
  return { next, cancel }
}

export function filterOf({ filter }: Pick<ThreadEvents, 'filter'>): Matcher {
  if (!filter) return () => true
  checkChannels(filter)
  return createMatcher(filter)
}

/**
 * Matches the wanted events of runs, the events that announce their ends, and the state after a gap, which
 * belongs to no run.
 */
const ofRuns =
  (runIds: ReadonlySet<string>, filter: Matcher): Matcher =>
  (topic) =>
    (topic.runId === '' || runIds.has(topic.runId)) && (filter(topic) || isRootLifecycle(topic))

const isRootLifecycle = ({ method, namespace }: Pick<Topic, 'method' | 'namespace'>): boolean =>
  method === 'lifecycle' && namespace.length === 0

/** False for a run's root lifecycle events if they were only read to detect its end. */
const isShownOf =
  (filter: Matcher) =>
  (event: ThreadEvent | LogGap): boolean =>
    event.type === 'gap' ||
    !isRootLifecycle(event) ||
    filter({ method: event.method, namespace: [], runId: event.runId, detail: undefined, token: 0 })

const isEndOf = (event: LoggedEvent | LogGap, runId: string): boolean =>
  event.type === 'event' && event.runId === runId && isRunEnd(event)
