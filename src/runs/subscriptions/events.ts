import type { LoggedEvent } from '../../events/index.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { logReader, readLogBatches } from '../log/decode.ts'
import { type EventForm, type EventStream, inForm, type LoggedEvents } from '../log/form.ts'
import type { Matcher, Topic } from '../log/frame.ts'
import type { RunRecord } from '../records/records.ts'
import type { Owned, ThreadEvents } from '../requests.ts'
import { findThread, requireRun } from '../threads/threads.ts'
import { filterOf, readLive, readRunLog } from './subscribe.ts'
import { waitForEnd } from './wait-for-end.ts'

/**
 * The events of a thread, past and future, on any instance. They are pulled: nothing is read ahead, and leaving the loop ends
 * the subscription. Throws `no_such_run`, and `no_such_thread` once the thread is deleted.
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

/** A run whose end is waited for. */
export interface RunToEnd extends ThreadEvents {
  readonly runId: string
  /** Whether the caller has just started or found it, so that it need not be looked for. Default false. */
  readonly isKnown?: boolean | undefined
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
  const { threadId, runId, after = 0, signal, take, isKnown = false } = request
  if (!isKnown) await requireRun(context, request)
  const filter = filterOf(request)
  const wanted: Matcher = (topic) => topic.runId === runId && filter(topic)
  // What this process writes of the log meanwhile need not be read again.
  const watcher = context.watchers.open(threadId, () => {}, false)
  try {
    const { run, records } = await waitForEnd(context, threadId, runId, signal)
    if (!run && !(await findThread(context, request))) throw noSuchThread(threadId)
    // Everything is in the log by now. The run has begun with a root event.
    const first = run?.firstSeq ?? 1
    const from = filter(rootOf(runId)) ? first - 1 : first
    // What another process has written may not be announced yet.
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
