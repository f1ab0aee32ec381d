import type { Access } from '../../core/principal.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { type EventForm, type EventItem, type EventStream, formed } from '../log/form.ts'
import { currentRun } from '../records/answers.ts'
import { type AnswerRecord, isAnswerEnded, loadRun, type RunRecords, unanswered } from '../records/records.ts'
import type { AcceptedRun } from '../requests.ts'
import { readRunLog } from '../subscriptions/subscribe.ts'
import { waitForEnd } from '../subscriptions/wait-for-end.ts'
import { findThread, ownThread } from '../threads/threads.ts'
import type { Answer, AnswerEnd, FindAnswer, FollowOptions } from './answer.ts'
import { cancelAnswer } from './cancel.ts'
import { type FoundAnswer, findAnswer } from './find.ts'

export type OpenAnswer = Answer<EventItem<boolean, boolean>>

type EventRequest = EventForm & Access

/**
 * Follows an answer that was already started. Undefined if the caller has no such answer, or the thread no
 * active one.
 */
export async function followFound(
  context: RunContext,
  request: FindAnswer & EventRequest,
): Promise<OpenAnswer | undefined> {
  const { threadId, owner, metadataFilter, answerId, thread } = request
  const found = await findAnswer(context, { threadId, owner, metadataFilter, answerId, thread })
  return found && openAnswer(context, request, found, await placeOf(context, found, request))
}

/** The answer of a run that was just started, from that run on. */
export async function followStarted(
  context: RunContext,
  request: FollowOptions & EventRequest,
  { receipt, records }: AcceptedRun,
): Promise<OpenAnswer> {
  const { runId, appliedThroughSeq } = receipt
  const { threadId, owner, metadataFilter, after = appliedThroughSeq } = request
  const asked = { threadId, owner, metadataFilter }
  const found = foundIn(records, asked) ?? (await findAnswer(context, { ...asked, answerId: runId }))
  if (!found) throw noSuchThread(threadId)
  return openAnswer(context, request, found, { runIds: [runId], after })
}

/** Which runs of an answer to read, and the sequence number before their first event. */
interface Place {
  readonly runIds: readonly string[]
  readonly after: number
}

async function placeOf(
  { store }: RunContext,
  { record }: FoundAnswer,
  { runId, after }: Pick<FindAnswer, 'runId' | 'after'>,
): Promise<Place> {
  const { threadId, runIds: all, firstSeq } = record
  const current = currentRun(record)
  const first = runId ?? all[0]!
  const from = all.indexOf(first)
  const runIds = from < 0 ? [first] : all.slice(from, Math.max(from, all.indexOf(current)) + 1)
  if (after !== undefined) return { runIds, after }
  if (first === current && firstSeq !== null) return { runIds, after: firstSeq - 1 }
  // A run that begins in the meantime begins after this.
  const { head } = await store.inspect(threadId)
  const run = (await loadRun(store, threadId, first))?.record
  // The record of an ended run may no longer exist.
  const start = run ? (run.firstSeq ?? head + 1) : firstSeq === null ? head + 1 : 1
  return { runIds, after: start - 1 }
}

function openAnswer(
  context: RunContext,
  request: FollowOptions & EventRequest,
  first: FoundAnswer,
  { runIds: begun, after }: Place,
): OpenAnswer {
  const { threadId, owner, metadataFilter, filter, signal, cancelOnLeave = false } = request
  const { taskId: id } = first.record
  const asked = { threadId, owner, metadataFilter, answerId: id }
  let found = first
  let runIds = begun
  const runId = () => runIds.at(-1)!
  // Events of an ended answer can still be read.
  let end = endOf(found, runId())

  /** Called when a run has ended: the answer has ended with it, or continues with another run. */
  async function goOn(records?: RunRecords): Promise<void> {
    const now = foundIn(records, asked) ?? (await findAnswer(context, asked))
    if (!now && !(await findThread(context, asked))) throw noSuchThread(threadId)
    if (now) found = now
    end = now ? endOf(now, runId()) : { status: 'canceled' }
    if (now && !end) runIds = [runAfter(now.record, runId()) ?? currentRun(now.record)]
  }

  /** Cancels the answer if the caller requested that, unless it was read to its end. */
  async function left(): Promise<void> {
    if (cancelOnLeave && !end) await cancelAnswer(context, asked)
  }

  /** A single generator: each one around it would cost every event a microsecond. */
  async function* events(): EventStream<boolean, boolean> {
    let failed = false
    let seen = after
    try {
      for (;;) {
        const active = context.active.get(threadId)
        const run = { ...asked, runIds, after: seen, filter, signal, known: found.thread }
        for await (const logged of readRunLog(context, run)) {
          const newest = logged.findLast(({ type }) => type === 'event')
          if (newest?.type === 'event') seen = newest.seq
          const events = formed(logged, request)
          if (request.batches) yield events
          else yield* events
        }
        if (!end) await goOn(active?.runId === runId() ? await active.done : undefined)
        if (end) return
      }
    } catch (error) {
      failed = !signal?.aborted
      throw error
    } finally {
      if (!failed) await left()
    }
  }

  return {
    id,
    threadId,
    after,
    get runId() {
      return runId()
    },
    get end() {
      return end
    },
    get found() {
      return found
    },
    async ended() {
      try {
        while (!end) {
          const { records } = await waitForEnd(context, threadId, runId(), signal)
          await goOn(records)
        }
        return end
      } catch (error) {
        if (signal?.aborted) await left()
        throw error
      }
    },
    [Symbol.asyncIterator]: events,
  }
}

/** The answer in a run's records, if the caller can access it. */
function foundIn(records: RunRecords | undefined, access: Access): FoundAnswer | undefined {
  if (!records?.answer) return undefined
  const thread = ownThread(records.thread.record, access)
  return thread && { thread, record: records.answer, isKept: true }
}

function runAfter({ runIds }: AnswerRecord, runId: string): string | undefined {
  const at = runIds.indexOf(runId)
  return at < 0 ? undefined : runIds[at + 1]
}

/** How an answer ended with this run. Undefined if it is active, or continued with another run. */
function endOf({ thread, record }: FoundAnswer, runId: string): AnswerEnd | undefined {
  const { state, error, runIds } = record
  if (runAfter(record, runId) !== undefined) return undefined
  if (isAnswerEnded(record))
    return state === 'completed' || state === 'canceled' ? { status: state } : { status: 'failed', error }
  if (state !== 'input-required') return undefined
  return { status: 'asks', questions: unanswered(thread).filter((open) => runIds.includes(open.runId)) }
}
