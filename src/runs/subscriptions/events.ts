import { isRunEnd, type LogGap, type LoggedEvent, type ThreadEvent } from '../../events/index.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { waitForEnd } from '../execution/recover.ts'
import { decodeBatch, decodeFrames, plainEvent, readLogBatches } from '../log/decode.ts'
import { createMatcher, type Matcher } from '../log/filter.ts'
import type { Topic } from '../log/frame.ts'
import { isEnded, loadRun, type RunRecord } from '../records/records.ts'
import type { Owned, ThreadEvents } from '../requests.ts'
import { findThread, requireRun } from '../threads/threads.ts'
import { type Rendering, subscribeAs } from './subscribe.ts'

/**
 * The events of a thread, past and future, on any instance. They are pulled: nothing is read ahead, and leaving the loop ends
 * the subscription. Throws `no_such_run`, and `no_such_thread` once the thread is deleted.
 */
export async function* readEvents(
  context: RunContext,
  request: Owned<ThreadEvents>,
): AsyncGenerator<ThreadEvent | LogGap, void, undefined> {
  for await (const events of readEventBatches(context, request)) for (const event of events) yield event
}

/** The same, as many at a time as there are. */
export async function* readEventBatches(
  context: RunContext,
  request: Owned<ThreadEvents>,
): AsyncGenerator<readonly (ThreadEvent | LogGap)[], void, undefined> {
  for await (const events of readLogged(context, request))
    yield events.map((event) => (event.type === 'gap' ? event : plainEvent(event)))
}

/** The same, as the log has them. */
export async function* readLogged(
  context: RunContext,
  request: Owned<ThreadEvents>,
): AsyncGenerator<readonly (LoggedEvent | LogGap)[], void, undefined> {
  const { threadId, owner, metadataFilter, runId, after = 0, signal } = request
  const thread = { threadId, owner, metadataFilter }
  signal?.throwIfAborted()
  const filter = filterOf(request)
  const wanted = runId === undefined ? filter : ofRun(runId, filter)
  const isShown = isShownOf(filter)
  if (runId !== undefined) await requireRun(context, { ...thread, runId })
  const subscription = subscribeAs(context, { ...thread, since: after }, wanted, AS_EVENTS)
  signal?.addEventListener('abort', subscription.cancel)
  const stopWaiting = new AbortController()
  let isOver = false
  if (runId !== undefined) {
    // The log may have no terminal event of the run, for example when the run was dropped while it waited.
    waitForEnd(context, threadId, runId, stopWaiting.signal).then(
      () => {
        isOver = true
        subscription.cancel()
      },
      () => {}, // Whatever makes this wait fail ends the subscription too.
    )
  }
  let seen = after
  try {
    for (let chunk = await subscription.next(); chunk; chunk = await subscription.next()) {
      yield chunk.filter(isShown)
      const last = chunk.at(-1)
      if (last?.type === 'event') seen = last.seq
      if (runId !== undefined && chunk.some((event) => isEndOf(event, runId))) return
    }
    signal?.throwIfAborted()
    if (!isOver) return
    for await (const rest of readLogBatches(context.store, threadId, wanted, seen)) yield rest.filter(isShown)
  } finally {
    stopWaiting.abort(null) // Without a reason it makes an error with a stack, which nobody sees.
    signal?.removeEventListener('abort', subscription.cancel)
    subscription.cancel()
  }
}

/** A run whose end is waited for. */
export interface RunToEnd extends ThreadEvents {
  readonly runId: string
  /** Is given the wanted events in their order, one by one, so that nobody has to keep them all. */
  readonly take: (event: LoggedEvent) => void
}

/**
 * Waits for the end of a run, on any instance, takes its events from the log, and gives its record: undefined where it was undone or
 * deleted. Throws `no_such_run`, and `no_such_thread` once the thread is deleted.
 */
export async function readToEnd(
  context: RunContext,
  request: Owned<RunToEnd>,
): Promise<RunRecord | undefined> {
  const { store, active } = context
  const { threadId, runId, after = 0, take } = request
  await requireRun(context, request)
  const recordOf = async () => (await loadRun(store, threadId, runId))?.record
  const local = active.get(threadId)
  if (local?.runId === runId) {
    await local.done
    const run = await recordOf()
    if (!run && !(await findThread(context, request))) throw noSuchThread(threadId)
    if (!run || isEnded(run)) {
      // Everything is in the log by now, so that nothing has to be watched.
      const filter = filterOf(request)
      const wanted: Matcher = (topic) => topic.runId === runId && filter(topic)
      for await (const events of readLogBatches(store, threadId, wanted, after)) events.forEach(take)
      return run
    }
  }
  for await (const events of readLogged(context, request))
    for (const event of events) if (event.type === 'event') take(event)
  return recordOf()
}

const filterOf = ({ filter }: Pick<ThreadEvents, 'filter'>): Matcher =>
  filter ? createMatcher(filter) : () => true

const AS_EVENTS: Rendering<readonly (LoggedEvent | LogGap)[]> = {
  frames: decodeFrames,
  batch(batch, wanted) {
    const events = decodeBatch(batch, wanted)
    return events.length > 0 ? events : undefined
  },
}

/** Matches the run's wanted events, and those that announce its end. */
const ofRun =
  (runId: string, filter: Matcher): Matcher =>
  (topic) =>
    topic.runId === runId && (filter(topic) || isRootLifecycle(topic))

const isRootLifecycle = ({ method, namespace }: Pick<Topic, 'method' | 'namespace'>): boolean =>
  method === 'lifecycle' && namespace.length === 0

/** False for a run's root lifecycle events if they were only read to notice its end. */
const isShownOf =
  (filter: Matcher) =>
  (event: ThreadEvent | LogGap): boolean =>
    event.type === 'gap' ||
    !isRootLifecycle(event) ||
    filter({ method: event.method, namespace: [], runId: event.runId, detail: undefined, token: 0 })

const isEndOf = (event: ThreadEvent | LogGap, runId: string): boolean =>
  event.type === 'event' && event.runId === runId && isRunEnd(event)
