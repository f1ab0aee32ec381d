import type { LoggedEvent } from '../../messages/thread-events/index.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import {
  type EventForm,
  type EventStream,
  inForm,
  type LoggedEvents,
  logReader,
  readLogBatches,
} from '../log/decode.ts'
import type { Matcher, Topic } from '../log/frame.ts'
import type { RunRecord } from '../records/records.ts'
import type { Owned, ThreadEvents } from '../requests.ts'
import { findThread, requireRun } from '../threads/threads.ts'
import { filterOf, readLive, readRunLog } from './subscribe.ts'
import { waitForEnd } from './wait-for-end.ts'

/**
 * The past and future events of a thread, on any instance. They are pulled: nothing is read ahead, and
 * leaving the loop ends the subscription. Throws `no_such_run`, and `no_such_thread` once the thread is
 * deleted.
 */
export async function* readEvents(
  context: RunContext,
  request: Owned<ThreadEvents> & EventForm,
): EventStream<boolean, boolean> {
  yield* inForm(readLogged(context, request), request)
}

async function* readLogged(context: RunContext, request: Owned<ThreadEvents>): LoggedEvents {
  const { runId, after: since = 0, signal } = request
  signal?.throwIfAborted()
  if (runId === undefined) return yield* readLive(context, { ...request, since }, filterOf(request))
  await requireRun(context, { ...request, runId })
  yield* readRunLog(context, { ...request, runIds: [runId] })
}

/** A request to wait for the end of a run. */
export interface RunToEnd extends ThreadEvents {
  readonly runId: string
  /** Whether the caller has just started or found the run, so that no lookup is needed. Default: false. */
  readonly isKnown?: boolean | undefined
  /** Called with the wanted events in order, one by one, so that they need not be kept in memory. */
  readonly take: (event: LoggedEvent) => void
}

/**
 * Waits for the end of a run, on any instance, reads its events from the log, and returns its record.
 * Undefined if the run was undone or deleted. Throws `no_such_run`, and `no_such_thread` once the thread is
 * deleted.
 */
export async function readToEnd(
  context: RunContext,
  request: Owned<RunToEnd>,
): Promise<RunRecord | undefined> {
  const { threadId, runId, after = 0, signal, take, isKnown = false } = request
  if (!isKnown) await requireRun(context, request)
  const filter = filterOf(request)
  const wanted: Matcher = (topic) => topic.runId === runId && filter(topic)
  // Events that this process writes in the meantime need not be read from the store.
  const watcher = context.watchers.open(threadId, () => {}, false)
  try {
    const { run, records } = await waitForEnd(context, threadId, runId, signal)
    if (!run && !(await findThread(context, request))) throw noSuchThread(threadId)
    // All events are in the log by now. The run began with a root event.
    const first = run?.firstSeq ?? 1
    const from = filter(rootOf(runId)) ? first - 1 : first
    // Events of other processes may not be announced yet.
    const read = records ? watcher.read : logReader(context.store, threadId)
    for await (const events of readLogBatches(read, wanted, Math.max(after, from))) events.forEach(take)
    return run
  } finally {
    watcher.close()
  }
}

const rootOf = (runId: string): Topic => ({
  method: 'lifecycle',
  namespace: [],
  runId,
  detail: undefined,
  token: 0,
})
