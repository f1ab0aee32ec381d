import { AgentwireError } from '../../errors.ts'
import type { AgentEvent } from '../agent.ts'

/**
 * Between a function that writes and an engine that reads. Entries are taken in the order they were put: events are handed
 * over, steps are carried out (a checkpoint is written when its turn comes) and give further events.
 */
export interface EventQueue {
  put(event: AgentEvent): void
  /** Settles when the step was carried out; never, when the outbox closed before. */
  step(work: () => Promise<readonly AgentEvent[]>): Promise<void>
  /** Back-pressure: settles at once while few events wait, else when the engine has caught up. */
  ready(): Promise<void>
  /** No more entries will come. Those put before are still taken; then `error` is thrown, if one is given. */
  end(failure?: { readonly error: unknown }): void
  /** At once: what waits is dropped. */
  close(failure?: { readonly error: unknown }): void
  readonly closed: boolean
  readonly iterator: AsyncIterator<AgentEvent, undefined, undefined> & AsyncIterable<AgentEvent>
}

interface Step {
  readonly work: () => Promise<readonly AgentEvent[]>
  readonly done: () => void
}

/** Above this many waiting events `ready` waits. */
const HIGH_WATER = 64
/** A function that never awaits is stopped here. */
const OVERFLOW = 65_536

const DONE = { done: true, value: undefined } as const
const READY = Promise.resolve()

/** @param onClose Called once, when the outbox is closed or its last entry was taken. `early` when entries may be missing. */
export function createEventQueue(onClose: (early: boolean) => void): EventQueue {
  let entries: (AgentEvent | Step)[] = []
  let taken = 0
  let ended = false
  let closed = false
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}
  let caughtUp: (() => void)[] = []
  let reading: Promise<void> | undefined

  function push(entry: AgentEvent | Step): void {
    if (closed || ended) return
    entries.push(entry)
    if (entries.length - taken > OVERFLOW) {
      close({
        error: new AgentwireError(
          'overflow',
          'The agent writes without awaiting. Await what the writer returns.',
        ),
      })
    }
    wake()
  }

  function shift(): AgentEvent | Step | undefined {
    if (taken === entries.length) return undefined
    const entry = entries[taken]
    entries[taken++] = undefined as never
    if (taken === entries.length || (taken > 1_024 && taken * 2 > entries.length)) {
      entries = entries.slice(taken)
      taken = 0
    }
    if (caughtUp.length > 0 && entries.length - taken < HIGH_WATER / 2) {
      for (const resume of caughtUp) resume()
      caughtUp = []
    }
    return entry
  }

  function close(reason?: { readonly error: unknown }): void {
    if (closed) return
    const early = !ended || taken < entries.length
    closed = true
    failure = reason ?? failure
    entries = []
    taken = 0
    caughtUp = []
    wake()
    onClose(early)
  }

  /** The end of the stream: its error once, then done for ever. */
  function outcome(): IteratorReturnResult<undefined> {
    const thrown = failure
    failure = undefined
    if (thrown) throw thrown.error
    return DONE
  }

  async function take(): Promise<IteratorResult<AgentEvent, undefined>> {
    for (;;) {
      if (closed) return outcome()
      const entry = shift()
      if (!entry) {
        if (ended) close()
        else await new Promise<void>((resolve) => (wake = resolve))
      } else if (!isStep(entry)) {
        return { done: false, value: entry }
      } else {
        await carryOut(entry)
      }
    }
  }

  async function carryOut({ work, done }: Step): Promise<void> {
    try {
      const events = await work()
      entries = [...events, ...entries.slice(taken)]
      taken = 0
      if (!closed) done()
      else entries = []
    } catch (error) {
      close({ error })
    }
  }

  const iterator: EventQueue['iterator'] = {
    [Symbol.asyncIterator]: () => iterator,
    next() {
      const entry = reading || closed ? undefined : entries[taken]
      if (entry && !isStep(entry)) {
        shift()
        return Promise.resolve({ done: false, value: entry })
      }
      const turn = reading ? reading.then(take) : take()
      const settled = turn.then(
        () => {},
        () => {},
      )
      reading = settled
      void settled.then(() => {
        if (reading === settled) reading = undefined
      })
      return turn
    },
    async return() {
      close()
      return DONE
    },
  }

  return {
    put: push,
    step(work) {
      return new Promise((done) => push({ work, done }))
    },
    ready() {
      if (closed || ended) return new Promise(() => {})
      if (entries.length - taken < HIGH_WATER) return READY
      return new Promise((resolve) => caughtUp.push(resolve))
    },
    end(reason) {
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
