import type { LogGap, ThreadEvent } from '../../events/index.ts'
import type { EventFilter } from '../log/filter.ts'
import type { OpenInterrupt } from '../records/records.ts'
import type { Answers, RunRequest, ThreadAddress } from '../requests.ts'
import type { AnswerQuery, FoundAnswer } from './find.ts'

/** How an answer is read. */
export interface FollowOptions extends ThreadAddress {
  /**
   * Only events with a higher sequence number. Default: all of the answer; of one that goes on with answers to its questions, or with
   * another message, those that come after these.
   */
  readonly after?: number | undefined
  /** Default: everything. */
  readonly filter?: EventFilter | undefined
  /** Ends the reading, with the signal's reason. The answer goes on. */
  readonly signal?: AbortSignal | undefined
  /** Cancels the answer where its reader leaves before its end: where the loop is left, or the signal aborts. Default false. */
  readonly cancelOnLeave?: boolean | undefined
}

/** Starts an answer, or goes on with one that has asked. */
export type BeginAnswer = FollowOptions &
  (
    | { readonly start: Omit<RunRequest, keyof ThreadAddress> }
    | { readonly respond: Omit<Answers, keyof ThreadAddress> }
  )

/** Finds an answer: by its id or that of one of its runs, or the active one of the thread. */
export interface FindAnswer extends FollowOptions, AnswerQuery {
  /** The run of it to begin with. Default: its first one. */
  readonly runId?: string | undefined
}

/** How an answer has ended, or that it has asked. */
export type AnswerEnd =
  | { readonly status: 'completed' | 'canceled' }
  /** `error` is what clients are told. */
  | { readonly status: 'failed'; readonly error: string | null }
  /** There are no questions where it has stopped at a breakpoint. */
  | { readonly status: 'asks'; readonly questions: readonly OpenInterrupt[] }

/**
 * A run with the runs that continue it after its questions. Its events are those of all these runs, past and future, until it ends
 * or asks. It is read once: by a loop over it, or by `ended`.
 */
export interface Answer<Item = ThreadEvent | LogGap> extends AsyncIterable<Item> {
  /** Stays the same over all its runs, and names it on every instance. */
  readonly id: string
  readonly threadId: string
  /** The run that goes on, or the last one. */
  readonly runId: string
  /** The sequence number before the first event that is read. */
  readonly after: number
  /** Undefined while it goes on. */
  readonly end: AnswerEnd | undefined
  /** Waits for its end without reading its events. */
  ended(): Promise<AnswerEnd>
  /** Its record and that of its thread, as they were read last: at the end, or when it was found. */
  readonly found: FoundAnswer
}
