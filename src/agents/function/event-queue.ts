import { AgentwireError } from '../../core/errors.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'

interface Step {
  readonly work: () => Promise<readonly AgentEvent[]>
  readonly done: () => void
}

/** `ready` waits while at least this many entries, or this much text in characters, are queued. */
const HIGH_WATER = { count: 64, length: 1024 * 1024 }
/**
 * When this many entries, or this much text, are queued, the next entry fails a function that never awaits.
 */
const MAX_WAITING = { count: 65_536, length: 64 * 1024 * 1024 }

const DONE = { done: true, value: undefined } as const
const READY = /* @__PURE__ */ Promise.resolve()
const NOTHING = () => {}

type OnClose = (early: boolean, error: unknown) => void

const newQueue = (onClose: OnClose) => ({
  onClose,
  entries: [] as (AgentEvent | Step)[],
  /** The length of each entry's text. */
  lengths: [] as number[],
  taken: 0,
  waitingLength: 0,
  ended: false,
  closed: false,
  failure: undefined as { readonly error: unknown } | undefined,
  wake: NOTHING,
  caughtUp: [] as (() => void)[],
  reading: undefined as Promise<void> | undefined,
  waiting: new Set<(error: unknown) => void>(),
  /** The result of every call after an early close. */
  refusal: undefined as Promise<never> | undefined,
})
type QueueState = ReturnType<typeof newQueue>

export type EventQueue = ReturnType<typeof createEventQueue>

/**
 * The queue between a function that writes and the engine that reads. Entries are taken in order: an event is
 * passed on; a step runs when it is first in the queue, writes a checkpoint and returns further events.
 *
 * If the queue is closed early, all its promises reject, so that the function continues in its `finally`.
 * These rejections need no handler. After the end of the queue, promises that cannot be fulfilled never
 * settle, because the function has returned.
 *
 * @param onClose Called once, when the queue is closed or its last entry is taken. `early`: entries may be
 * missing.
 */
export function createEventQueue(onClose: OnClose) {
  const queue = newQueue(onClose)
  return {
    put: (event: AgentEvent) => push(queue, event),
    step: (work: Step['work']): Promise<void> =>
      race(queue, new Promise((done) => push(queue, { work, done }))),
    /** Backpressure: settles at once while few events are queued, otherwise when the engine has caught up. */
    ready: () => ready(queue),
    /** Settles with `work`, or earlier if the queue is closed. */
    race: <T>(work: Promise<T>) => race(queue, work),
    /** Accepts no more entries. Earlier entries are still taken, then `error` is thrown if present. */
    end(reason?: { readonly error: unknown }): void {
      if (queue.closed || queue.ended) return
      queue.ended = true
      queue.failure = reason
      queue.wake()
    },
    /** Ends the queue immediately and drops the queued entries. */
    close: (reason?: { readonly error: unknown }) => close(queue, reason),
    get closed() {
      return queue.closed
    },
    iterator: iteratorOf(queue),
  }
}

const countOf = ({ entries, taken }: QueueState): number => entries.length - taken

/** Replaces taken entries with events. Their text is not counted, because the state contains it. */
function replaceTaken(queue: QueueState, events: readonly AgentEvent[]): void {
  queue.entries = [...events, ...queue.entries.slice(queue.taken)]
  queue.lengths = [...events.map(() => 0), ...queue.lengths.slice(queue.taken)]
  queue.taken = 0
}

function push(queue: QueueState, entry: AgentEvent | Step): void {
  if (queue.closed || queue.ended) return
  const length = isStep(entry) ? 0 : textLength(entry.data)
  // Short events are limited by number, so that a long event may be followed by the end of its message.
  const isLong = length > MAX_WAITING.length / MAX_WAITING.count
  const isOverflow =
    countOf(queue) >= MAX_WAITING.count || (isLong && queue.waitingLength >= MAX_WAITING.length)
  queue.entries.push(entry)
  queue.lengths.push(length)
  queue.waitingLength += length
  if (isOverflow) {
    const message = 'The agent writes without awaiting. Await the promises that the context methods return.'
    close(queue, { error: new AgentwireError('overflow', message) })
  }
  queue.wake()
}

function shift(queue: QueueState): AgentEvent | Step | undefined {
  const { entries, taken } = queue
  if (taken === entries.length) return undefined
  const entry = entries[taken]
  queue.waitingLength -= queue.lengths[taken]!
  entries[queue.taken++] = undefined as never
  if (queue.taken === entries.length || (queue.taken > 1_024 && queue.taken * 2 > entries.length))
    replaceTaken(queue, [])
  const isLow = countOf(queue) < HIGH_WATER.count / 2 && queue.waitingLength < HIGH_WATER.length / 2
  if (queue.caughtUp.length > 0 && isLow) {
    for (const resume of queue.caughtUp) resume()
    queue.caughtUp = []
  }
  return entry
}

function close(queue: QueueState, reason?: { readonly error: unknown }): void {
  if (queue.closed) return
  const early = !queue.ended || countOf(queue) > 0
  const failure = reason ?? queue.failure
  Object.assign(queue, { closed: true, failure, entries: [], lengths: [], taken: 0, waitingLength: 0 })
  queue.caughtUp = []
  if (!queue.ended) {
    const error = failure?.error instanceof Error ? failure.error : cancelled()
    queue.refusal = handled(Promise.reject(error))
    for (const reject of queue.waiting) reject(error)
  }
  queue.wake()
  queue.onClose(early, failure?.error)
}

function race<T>({ waiting, refusal }: QueueState, work: Promise<T>): Promise<T> {
  const raced = new Promise<T>((resolve, reject) => {
    waiting.add(reject)
    void work.then(resolve, reject).then(() => waiting.delete(reject))
    refusal?.catch(reject)
  })
  return handled(raced)
}

function ready(queue: QueueState): Promise<void> {
  if (queue.refusal) return queue.refusal
  if (queue.ended) return new Promise(() => {})
  if (countOf(queue) < HIGH_WATER.count && queue.waitingLength < HIGH_WATER.length) return READY
  return race(queue, new Promise((resolve) => queue.caughtUp.push(resolve)))
}

/** The end of the stream: throws the error once, and is done after that. */
function finish(queue: QueueState): IteratorReturnResult<undefined> {
  const thrown = queue.failure
  queue.failure = undefined
  if (thrown) throw thrown.error
  return DONE
}

async function take(queue: QueueState): Promise<IteratorResult<AgentEvent, undefined>> {
  for (;;) {
    // After a close, the remaining entries are the events of the step that was running.
    const entry = shift(queue)
    if (queue.closed && !entry) return finish(queue)
    if (!entry) {
      if (queue.ended) close(queue)
      else await new Promise<void>((resolve) => (queue.wake = resolve))
    } else if (!isStep(entry)) {
      return { done: false, value: entry }
    } else {
      await runStep(queue, entry)
    }
  }
}

async function runStep(queue: QueueState, { work, done }: Step): Promise<void> {
  try {
    replaceTaken(queue, await work())
    done()
  } catch (error) {
    close(queue, { error })
  }
}

function iteratorOf(queue: QueueState): AsyncIterator<AgentEvent, undefined> & AsyncIterable<AgentEvent> {
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      const { reading } = queue
      const entry = reading || queue.closed ? undefined : queue.entries[queue.taken]
      if (entry && !isStep(entry)) {
        shift(queue)
        return Promise.resolve({ done: false, value: entry })
      }
      const turn = reading ? reading.then(() => take(queue)) : take(queue)
      const settled = turn.then(NOTHING, NOTHING)
      queue.reading = settled
      void settled.then(() => {
        if (queue.reading === settled) queue.reading = undefined
      })
      return turn
    },
    /** Settles when the running step has ended, because it writes. */
    async return() {
      close(queue)
      await queue.reading
      return DONE
    },
  }
}

const isStep = (entry: AgentEvent | Step): entry is Step => 'work' in entry

/** The approximate length of the value as JSON, in characters. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  let length = 8
  if (typeof value === 'object') for (const key in value) length += textLength(value[key as never])
  return length
}

const cancelled = (): AgentwireError => new AgentwireError('cancelled', 'The run was cancelled.')

/** Marks a promise as handled, so that awaiting it is optional. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
