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
import { type BatchReader, decodeFrames, readLogBatches } from '../log/decode.ts'
import { checkChannels, createMatcher } from '../log/filter.ts'
import type { LoggedEvents } from '../log/form.ts'
import { encodeGap, type Matcher, OMITTED, type Topic, topicOf } from '../log/frame.ts'
import type { SubscriberEnd } from '../log/watchers.ts'
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

export function subscribeAs<Chunk>(
  context: RunContext,
  request: LogCursor,
  filter: Matcher,
  rendering: Rendering<Chunk>,
): Subscription<Chunk> {
  const { store, watchers } = context
  const { threadId } = request
  const watcher = watchers.open(threadId, end)
  let from = request
  let start: ReplayStart | undefined
  /** Frames to send before the next events of the log. */
  let prologue: readonly Uint8Array[] = []
  let after = 0
  /** Whether the newest root state so far was too long for an event. */
  let isStateOmitted = false
  /** The wake-up count when the log was last read to its head. Until it changes there is nothing to read. */
  let atHead: number | undefined
  /** The change count when the thread was last read. */
  let seenChanges = 0
  let outdated = false
  /** The wake-up count when the thread did not exist. Until it changes the thread does not exist. */
  let absentAt: number | undefined
  let isDeleted = false
  let ended: SubscriberEnd | undefined
  let cancelled = false

  function end(how: SubscriberEnd): void {
    if (!start && how.at === 'once') {
      // It has read nothing of the deleted thread, so it continues to wait for one.
      outdated = true
      return
    }
    ended ??= how
    watcher.close()
  }

  function cancel(): void {
    cancelled = true
    watcher.close()
  }

  async function ready(): Promise<void> {
    try {
      do {
        absentAt = watcher.wakeUps()
      } while (!(await begin()) && outdated)
      if (isDeleted) throw deleted()
    } catch (error) {
      cancel()
      throw error
    }
  }

  async function next(): Promise<Chunk | undefined> {
    while (!cancelled) {
      const seen = watcher.wakeUps()
      if (seen === (start ? atHead : absentAt) && !ended) {
        await watcher.wait(seen)
        continue
      }
      // Taken before the read, so that the read returns everything that was written before the end.
      const last = ended
      const chunk = await attempt(seen)
      if (cancelled) break
      if (ended?.at === 'once') throw ended.reason
      if (chunk !== undefined && chunk !== null) return chunk
      if (chunk === null) continue
      if (last) throw last.reason
      await watcher.wait(seen)
    }
    return undefined
  }

  /** Undefined means that the caller should wait for a wake-up, null that it should try again immediately. */
  async function attempt(wakeUps: number): Promise<Chunk | undefined | null> {
    try {
      if (!start && !(await begin())) return outdated ? null : undefined
      if (prologue.length === 0) return await read(start!, wakeUps)
      const first = rendering.frames(prologue)
      prologue = []
      return first
    } catch (error) {
      // A shared store will be available again. Its notifications, or the watchers' timer, then wake this
      // subscriber.
      if (error instanceof UnavailableError && store.capabilities.shared) return undefined
      throw error
    }
  }

  async function begin(): Promise<boolean> {
    outdated = false
    seenChanges = watcher.changes()
    const found = await locateStart(context, from, filter)
    isDeleted = found === 'deleted'
    if (outdated || !found || found === 'deleted') return false
    start = found
    after = found.after
    prologue = found.prologue
    rendering.begun?.(after)
    return true
  }

  async function read(
    { ranges, createdAt }: ReplayStart,
    wakeUps: number,
  ): Promise<Chunk | undefined | null> {
    const { until, wanted, endsWithState } = ranges.find((range) => after < range.until)!
    const limit = until === Number.POSITIVE_INFINITY ? {} : { limit: Math.min(until - after, MAX_BATCH) }
    const batch = await watcher.read({ after, ...limit })
    if (mayBeRecreated(batch)) {
      const thread = await findThread(context, request)
      if (!thread || (createdAt !== null && thread.createdAt !== createdAt)) throw deleted()
    }
    if (batch.head < after && (await store.inspect(threadId)).head < after) {
      if (!(await findThread(context, request))) throw deleted()
      return restart()
    }
    if (batch.count === 0) return undefined
    if (batch.first > after + 1) return skipGap(batch.first)
    after = batch.first + batch.count - 1
    watcher.moved(after, batch.head)
    if (endsWithState) await noteStates(batch, until)
    if (prologue.length === 0 && after === batch.head && watcher.isFresh(wakeUps)) atHead = wakeUps
    return rendering.batch(batch, wanted) ?? null
  }

  /**
   * After the past events comes the newest state, if its own event was left out: otherwise a new subscriber
   * would take an earlier, shorter state for it.
   */
  async function noteStates({ count, origins, originOf }: LogBatch, until: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const { method, namespace, detail } = topicOf(origins[originOf[i]!]!)
      if (namespace.length > 0) continue
      if (method === 'values') isStateOmitted = false
      else if (method === 'checkpoints' && detail === OMITTED) isStateOmitted = true
    }
    if (after < until || !isStateOmitted) return
    isStateOmitted = false
    const thread = await findThread(context, request)
    if (thread) prologue = await baselineFrames(context, thread, filter, after)
  }

  /**
   * Whether the events that were read before no longer exist: the log was trimmed, or the thread was deleted
   * and this is the log of a new one with the same id. An empty log looks the same if the store lost
   * everything, which it does not announce.
   */
  function mayBeRecreated({ firstRetained, count, head }: LogBatch): boolean {
    if (firstRetained <= after) return false
    // The changes of other processes are announced late.
    if (store.capabilities.shared && (count > 0 || head === 0)) return true
    const changes = watcher.changes()
    if (changes === seenChanges) return false
    seenChanges = changes
    return true
  }

  /**
   * Starts again after the store lost events that this reader has received, like a store without a file does
   * when it ends, and contains the thread again. All events in it are new.
   */
  function restart(): null {
    const hadCursor = from.since !== undefined || from.lastEventId !== undefined
    from = { ...request, since: hadCursor ? 0 : undefined, lastEventId: undefined, known: undefined }
    start = undefined
    after = 0
    return null
  }

  /**
   * Sends a gap and the newest state to a reader that was too slow, because the log dropped the next events.
   */
  async function skipGap(firstRetained: number): Promise<Chunk> {
    const missed = { after, firstRetained }
    after = firstRetained - 1
    return rendering.frames(await gapFrames(context, request, filter, missed))
  }

  return { ready, next, cancel }
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
