import type { Access } from '../../core/principal.ts'
import type { RunContext } from '../context.ts'
import { noSuchThread } from '../errors.ts'
import { type EventForm, type EventItem, type EventStream, formed } from '../log/decode.ts'
import { currentRun } from '../records/answers.ts'
import { unanswered } from '../records/interrupts.ts'
import { type AnswerRecord, isAnswerEnded, loadRun, type RunRecords } from '../records/records.ts'
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
  found: FoundAnswer,
  { runIds, after }: Place,
): OpenAnswer {
  const { threadId, owner, metadataFilter, signal } = request
  const id = found.record.taskId
  const asked = { threadId, owner, metadataFilter, answerId: id }
  // Events of an ended answer can still be read.
  const reading: AnswerReading = { request, asked, found, runIds, end: endOf(found, runIds.at(-1)!) }
  return {
    id,
    threadId,
    after,
    get runId() {
      return reading.runIds.at(-1)!
    },
    get end() {
      return reading.end
    },
    get found() {
      return reading.found
    },
    async ended() {
      try {
        while (!reading.end) {
          const { records } = await waitForEnd(context, threadId, reading.runIds.at(-1)!, signal)
          await goOn(context, reading, records)
        }
        return reading.end
      } catch (error) {
        if (signal?.aborted) await leave(context, reading)
        throw error
      }
    },
    [Symbol.asyncIterator]: () => eventsOf(context, reading, after),
  }
}

/** An answer that is read, as of its newest run. */
interface AnswerReading {
  readonly request: FollowOptions & EventRequest
  readonly asked: Access & { readonly threadId: string; readonly answerId: string }
  found: FoundAnswer
  runIds: readonly string[]
  end: AnswerEnd | undefined
}

/** Called when a run has ended: the answer has ended with it, or continues with another run. */
async function goOn(context: RunContext, reading: AnswerReading, records?: RunRecords): Promise<void> {
  const { asked, runIds } = reading
  const runId = runIds.at(-1)!
  const now = foundIn(records, asked) ?? (await findAnswer(context, asked))
  if (!now && !(await findThread(context, asked))) throw noSuchThread(asked.threadId)
  if (now) reading.found = now
  reading.end = now ? endOf(now, runId) : { status: 'canceled' }
  if (now && !reading.end) reading.runIds = [runAfter(now.record, runId) ?? currentRun(now.record)]
}

/** Cancels the answer if the caller requested that, unless it was read to its end. */
async function leave(context: RunContext, { request, asked, end }: AnswerReading): Promise<void> {
  if (request.cancelOnLeave && !end) await cancelAnswer(context, asked)
}

/** A single generator: each one around it would cost every event a microsecond. */
async function* eventsOf(
  context: RunContext,
  reading: AnswerReading,
  after: number,
): EventStream<boolean, boolean> {
  const { request, asked } = reading
  const { filter, signal } = request
  let failed = false
  let seen = after
  try {
    for (;;) {
      const { runIds, found } = reading
      const active = context.active.get(asked.threadId)
      const run = { ...asked, runIds, after: seen, filter, signal, known: found.thread }
      for await (const logged of readRunLog(context, run)) {
        const newest = logged.findLast(({ type }) => type === 'event')
        if (newest?.type === 'event') seen = newest.seq
        const events = formed(logged, request)
        if (request.batches) yield events
        else yield* events
      }
      const isCurrent = active?.runId === reading.runIds.at(-1)
      if (!reading.end) await goOn(context, reading, isCurrent ? await active!.done : undefined)
      if (reading.end) return
    }
  } catch (error) {
    failed = !signal?.aborted
    throw error
  } finally {
    if (!failed) await leave(context, reading)
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
