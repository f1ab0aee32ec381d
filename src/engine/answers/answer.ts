import type { LogGap, ThreadEvent } from '../../messages/thread-events/index.ts'
import type { EventFilter } from '../log/filter.ts'
import type { OpenInterrupt } from '../records/records.ts'
import type { Answers, RunRequest, ThreadAddress } from '../requests.ts'
import type { AnswerQuery, FoundAnswer } from './find.ts'

/** How to read an answer. */
export interface FollowOptions extends ThreadAddress {
  /**
   * Only events with a higher sequence number. Default: all events of the answer. For an answer that
   * continues with replies or another message: the events after these.
   */
  readonly after?: number | undefined
  /** Default: all events. */
  readonly filter?: EventFilter | undefined
  /** Stops reading, with the signal's reason. The answer continues. */
  readonly signal?: AbortSignal | undefined
  /**
   * Whether to cancel the answer if its reader stops before the end, by leaving the loop or aborting the
   * signal. Default: false.
   */
  readonly cancelOnLeave?: boolean | undefined
}

/** Starts an answer, or continues one that asked a question. */
export type BeginAnswer = FollowOptions &
  (
    | { readonly start: Omit<RunRequest, keyof ThreadAddress> }
    | { readonly respond: Omit<Answers, keyof ThreadAddress> }
  )

/** Finds an answer: by its id or that of one of its runs. Default: the active answer of the thread. */
export interface FindAnswer extends FollowOptions, AnswerQuery {
  /** The run to begin with. Default: the first run of the answer. */
  readonly runId?: string | undefined
}

/** How an answer ended, or the questions that it asked. */
export type AnswerEnd =
  | { readonly status: 'completed' | 'canceled' }
  /** `error` is the message that clients see. */
  | { readonly status: 'failed'; readonly error: string | null }
  /** `questions` is empty if it stopped at a breakpoint. */
  | { readonly status: 'asks'; readonly questions: readonly OpenInterrupt[] }

/**
 * A run, and the runs that continue it after its questions. Its events are those of all these runs, past and
 * future, until it ends or asks. It is read once: with a loop, or with `ended`.
 */
export interface Answer<Item = ThreadEvent | LogGap> extends AsyncIterable<Item> {
  /** Stays the same for all its runs, on every instance. */
  readonly id: string
  readonly threadId: string
  /** The active run, or the last one. */
  readonly runId: string
  /** The sequence number before the first event that is read. */
  readonly after: number
  /** Undefined while it is active. */
  readonly end: AnswerEnd | undefined
  /** Waits for its end without reading events. */
  ended(): Promise<AnswerEnd>
  /** Its record and that of its thread, as last read: at the end, or when the answer was found. */
  readonly found: FoundAnswer
}
