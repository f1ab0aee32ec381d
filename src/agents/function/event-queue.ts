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
export function createEventQueue(onClose: (early: boolean, error: unknown) => void) {
  let entries: (AgentEvent | Step)[] = []
  let lengths: number[] = []
  let taken = 0
  let waitingLength = 0
  let ended = false
  let closed = false
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}
  let caughtUp: (() => void)[] = []
  let reading: Promise<void> | undefined
  const waiting = new Set<(error: unknown) => void>()
  /** The result of every call after an early close. */
  let refusal: Promise<never> | undefined

  const count = (): number => entries.length - taken

  /** Replaces taken entries with events. Their text is not counted, because the state contains it. */
  function replaceTaken(events: readonly AgentEvent[]): void {
    entries = [...events, ...entries.slice(taken)]
    lengths = [...events.map(() => 0), ...lengths.slice(taken)]
    taken = 0
  }

  function push(entry: AgentEvent | Step): void {
    if (closed || ended) return
    const length = isStep(entry) ? 0 : textLength(entry.data)
    // Short events are limited by number, so that a long event may be followed by the end of its message.
    const isLong = length > MAX_WAITING.length / MAX_WAITING.count
    const isOverflow = count() >= MAX_WAITING.count || (isLong && waitingLength >= MAX_WAITING.length)
    entries.push(entry)
    lengths.push(length)
    waitingLength += length
    if (isOverflow) {
      const message = 'The agent writes without awaiting. Await the promises that the context methods return.'
      close({ error: new AgentwireError('overflow', message) })
    }
    wake()
  }

  function shift(): AgentEvent | Step | undefined {
    if (taken === entries.length) return undefined
    const entry = entries[taken]
    waitingLength -= lengths[taken]!
    entries[taken++] = undefined as never
    if (taken === entries.length || (taken > 1_024 && taken * 2 > entries.length)) replaceTaken([])
    if (caughtUp.length > 0 && count() < HIGH_WATER.count / 2 && waitingLength < HIGH_WATER.length / 2) {
      for (const resume of caughtUp) resume()
      caughtUp = []
    }
    return entry
  }

  /** Ends the queue immediately and drops the queued entries. */
  function close(reason?: { readonly error: unknown }): void {
    if (closed) return
    const early = !ended || count() > 0
    closed = true
    failure = reason ?? failure
    entries = []
    lengths = []
    taken = 0
    waitingLength = 0
    caughtUp = []
    if (!ended) {
      const error = failure?.error instanceof Error ? failure.error : cancelled()
      refusal = handled(Promise.reject(error))
      for (const reject of waiting) reject(error)
    }
    wake()
    onClose(early, failure?.error)
  }

  /** Settles with `work`, or earlier if the queue is closed. */
  function race<T>(work: Promise<T>): Promise<T> {
    const raced = new Promise<T>((resolve, reject) => {
      waiting.add(reject)
      void work.then(resolve, reject).then(() => waiting.delete(reject))
      refusal?.catch(reject)
    })
    return handled(raced)
  }

  /** The end of the stream: throws the error once, and is done after that. */
  function finish(): IteratorReturnResult<undefined> {
    const thrown = failure
    failure = undefined
    if (thrown) throw thrown.error
    return DONE
  }

  async function take(): Promise<IteratorResult<AgentEvent, undefined>> {
    for (;;) {
      // After a close, the remaining entries are the events of the step that was running.
      const entry = shift()
      if (closed && !entry) return finish()
      if (!entry) {
        if (ended) close()
        else await new Promise<void>((resolve) => (wake = resolve))
      } else if (!isStep(entry)) {
        return { done: false, value: entry }
      } else {
        await runStep(entry)
      }
    }
  }

  async function runStep({ work, done }: Step): Promise<void> {
    try {
      replaceTaken(await work())
      done()
    } catch (error) {
      close({ error })
    }
  }

  const iterator: AsyncIterator<AgentEvent, undefined> & AsyncIterable<AgentEvent> = {
    [Symbol.asyncIterator]: () => iterator,
    next() {
      const entry = reading || closed ? undefined : entries[taken]
      if (entry && !isStep(entry)) {
        shift()
        return Promise.resolve({ done: false, value: entry })
      }
      const turn = reading ? reading.then(take) : take()
      const settled = turn.then(NOTHING, NOTHING)
      reading = settled
      void settled.then(() => {
        if (reading === settled) reading = undefined
      })
      return turn
    },
    /** Settles when the running step has ended, because it writes. */
    async return() {
      close()
      await reading
      return DONE
    },
  }

  return {
    put: (event: AgentEvent) => push(event),
    step: (work: Step['work']): Promise<void> => race(new Promise((done) => push({ work, done }))),
    /** Backpressure: settles at once while few events are queued, otherwise when the engine has caught up. */
    ready(): Promise<void> {
      if (refusal) return refusal
      if (ended) return new Promise(() => {})
      if (count() < HIGH_WATER.count && waitingLength < HIGH_WATER.length) return READY
      return race(new Promise((resolve) => caughtUp.push(resolve)))
    },
    race,
    /** Accepts no more entries. Earlier entries are still taken, then `error` is thrown if present. */
    end(reason?: { readonly error: unknown }): void {
      if (closed || ended) return
      ended = true
      failure = reason
      wake()
    },
    close,
    get closed() {
      return closed
    },
    iterator,
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
