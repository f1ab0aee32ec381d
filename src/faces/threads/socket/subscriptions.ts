import {
  type AgentEngine,
  type EventFilter,
  type Subscription,
  subscribe,
  type ThreadSubscription,
} from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { ProtocolError } from '../errors.ts'
import { asChunks, fill, newSource, type SocketChunk, type Source, takeFrames } from './encode.ts'
import type { SocketWriter } from './writer.ts'

/** More than any page needs: a page has two, and two for each subagent that it shows. */
const MAX_SUBSCRIPTIONS = 256
/** The maximum length of a subscription's filter, in characters of JSON: its id contains the filter. */
const MAX_FILTER_LENGTH = 65_536

interface Entry extends Source {
  readonly subscription: Subscription<SocketChunk>
  /** Called when the chunk was sent. */
  taken: () => void
}

export interface Subscribing extends Pick<ThreadSubscription, 'filter' | 'since' | 'lastEventId'> {
  /** Default: a new id. */
  readonly id?: string | undefined
}

/** The subscriptions of one socket. */
export interface Subscriptions {
  readonly size: number
  /** Throws `invalid_argument` unless subscriptions with all of these ids can be opened. */
  admit(ids: readonly string[]): void
  /**
   * Resolves with the id when the thread can be read and `start` may be called. Throws `no_such_thread` for a
   * deleted thread.
   */
  open(subscribing: Subscribing): Promise<{ readonly id: string; readonly start: () => void }>
  /** False if there is no such subscription. */
  close(id: string): boolean
  closeAll(): void
}

export function createSubscriptions(
  engine: AgentEngine,
  { threadId, principal }: Pick<FaceCall, 'threadId' | 'principal'>,
  writer: SocketWriter,
  /** Called with the reason when a subscription cannot start or continue. */
  onEnd: (reason: unknown) => void,
  /** Called before that if the error is not reported elsewhere. */
  report: (error: unknown) => void,
): Subscriptions {
  const opened = new Map<string, Subscription<SocketChunk>>()
  /** The subscriptions that determine the order of events. */
  let joined: readonly Entry[] = []
  let made = 0
  let flushing = false
  let again = false

  /** Sends what the subscriptions have read, as far as it is in order. */
  function flush(): void {
    again = true
    if (flushing) return
    flushing = true
    while (again && !writer.ended) {
      again = false
      const sent = writer.write(next)
      if (sent) return void sent.then(flushOn)
    }
    flushing = false
  }

  function flushOn(): void {
    flushing = false
    if (again) flush()
  }

  function next(): Uint8Array | undefined {
    const frames = takeFrames(joined)
    if (frames) again = true
    for (const { chunk, taken } of joined) if (!chunk) taken()
    return frames
  }

  async function pump(entry: Entry): Promise<void> {
    const { subscription } = entry
    try {
      for (let chunk = await subscription.next(); chunk; chunk = await subscription.next()) {
        fill(entry, chunk)
        flush()
        if (!entry.chunk) continue
        await new Promise<void>((resolve) => {
          entry.taken = resolve
        })
      }
    } catch (reason) {
      report(reason)
      onEnd(reason)
    }
  }

  function close(id: string): boolean {
    const subscription = opened.get(id)
    if (!subscription) return false
    subscription.cancel()
    opened.delete(id)
    for (const entry of joined) if (entry.subscription === subscription) entry.taken()
    joined = joined.filter((entry) => entry.subscription !== subscription)
    // Others may have waited for it.
    flush()
    return true
  }

  function admit(ids: readonly string[]): void {
    if (opened.size + ids.length > MAX_SUBSCRIPTIONS) {
      const message = `A socket has at most ${MAX_SUBSCRIPTIONS} subscriptions. End one with subscription.unsubscribe.`
      throw new ProtocolError('invalid_argument', message)
    }
    if (ids.some((id) => opened.has(id)))
      throw new ProtocolError('invalid_argument', 'This subscription is already open.')
  }

  return {
    get size() {
      return opened.size
    },
    admit,
    async open({ id: given, ...from }) {
      const id = given ?? idOf(++made, from.filter)
      admit([id])
      const rendering = asChunks((seq) => {
        entry.known = seq
        flush()
      })
      const subscription = subscribe(engine, { threadId, principal, ...from }, rendering)
      const entry: Entry = { ...newSource(), subscription, taken() {} }
      opened.set(id, subscription)
      try {
        await subscription.ready()
      } catch (error) {
        // An error answer is not enough: clients do not read the answer to a subscription that they restore.
        onEnd(error)
        throw error
      }
      const isOpen = () => opened.get(id) === subscription
      // From now on the others wait for it. Otherwise events that they send before it starts would reach the
      // client before its past events.
      if (isOpen()) joined = [...joined, entry]
      const start = () => {
        if (isOpen()) void pump(entry)
      }
      return { id, start }
    },
    close,
    closeAll() {
      for (const id of [...opened.keys()]) close(id)
    },
  }
}

/**
 * A subscription's id contains its filter, so that any server can restore it: `subscription.reconnect` only
 * sends ids.
 */
function idOf(n: number, filter: EventFilter): string {
  const text = JSON.stringify(filter)
  if (text.length > MAX_FILTER_LENGTH) {
    const message = `The filter of a subscription has at most ${MAX_FILTER_LENGTH} characters.`
    throw new ProtocolError('invalid_argument', message)
  }
  return `${n}.${btoa(encodeURIComponent(text))}`
}

/** The unvalidated filter in a subscription's id. Undefined for an id with another format. */
export function filterOf(id: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(atob(id.slice(id.indexOf('.') + 1))))
  } catch {
    return undefined
  }
}
