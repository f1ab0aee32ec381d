import {
  type AgentEngine,
  type EventFilter,
  type RunTree,
  readTree,
  type Subscription,
  subscribe,
  type ThreadSubscription,
} from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { parse } from '../commands/command.ts'
import type { TransportCommands } from '../commands/dispatch.ts'
import { ProtocolError } from '../errors.ts'
import { reconnectSchema, streamSchema, unsubscribeSchema } from '../wire.ts'
import { asChunks, fill, newSource, type SocketChunk, type Source, takeFrames } from './encode.ts'
import { subscriptionRequest } from './subscription-request.ts'
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

interface Subscribing extends Pick<ThreadSubscription, 'filter' | 'since' | 'lastEventId'> {
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

interface Socket {
  readonly engine: AgentEngine
  readonly call: Pick<FaceCall, 'threadId' | 'principal'>
  readonly writer: SocketWriter
  /** Called with the reason when a subscription cannot start or continue. */
  readonly onEnd: (reason: unknown) => void
  /** Called before that if the error is not reported elsewhere. */
  readonly report: (error: unknown) => void
}

const newState = (socket: Socket) => ({
  ...socket,
  opened: new Map<string, Subscription<SocketChunk>>(),
  /** The subscriptions that determine the order of events. */
  joined: [] as readonly Entry[],
  made: 0,
  isFlushing: false,
  again: false,
})
type State = ReturnType<typeof newState>

export function createSubscriptions(socket: Socket): Subscriptions {
  const state = newState(socket)
  return {
    get size() {
      return state.opened.size
    },
    admit: (ids) => admit(state, ids),
    open: (subscribing) => open(state, subscribing),
    close: (id) => close(state, id),
    closeAll() {
      for (const id of [...state.opened.keys()]) close(state, id)
    },
  }
}

function admit({ opened }: State, ids: readonly string[]): void {
  if (opened.size + ids.length > MAX_SUBSCRIPTIONS) {
    const message = `A socket has at most ${MAX_SUBSCRIPTIONS} subscriptions. End one with subscription.unsubscribe.`
    throw new ProtocolError('invalid_argument', message)
  }
  if (ids.some((id) => opened.has(id)))
    throw new ProtocolError('invalid_argument', 'This subscription is already open.')
}

async function open(state: State, { id: given, ...from }: Subscribing): ReturnType<Subscriptions['open']> {
  const { opened } = state
  const id = given ?? idOf(++state.made, from.filter)
  admit(state, [id])
  const rendering = asChunks((seq) => {
    entry.known = seq
    flush(state)
  })
  const { threadId, principal } = state.call
  const subscription = subscribe(state.engine, { threadId, principal, ...from }, rendering)
  const entry: Entry = { ...newSource(), subscription, taken() {} }
  opened.set(id, subscription)
  try {
    await subscription.ready()
  } catch (error) {
    // An error answer is not enough: clients do not read the answer to a subscription that they restore.
    state.onEnd(error)
    throw error
  }
  const isOpen = () => opened.get(id) === subscription
  // From now on the others wait for it. Otherwise events that they send before it starts would reach the
  // client before its past events.
  if (isOpen()) state.joined = [...state.joined, entry]
  const start = () => {
    if (isOpen()) void pump(state, entry)
  }
  return { id, start }
}

function close(state: State, id: string): boolean {
  const subscription = state.opened.get(id)
  if (!subscription) return false
  subscription.cancel()
  state.opened.delete(id)
  for (const entry of state.joined) if (entry.subscription === subscription) entry.taken()
  state.joined = state.joined.filter((entry) => entry.subscription !== subscription)
  // Others may have waited for it.
  flush(state)
  return true
}

async function pump(state: State, entry: Entry): Promise<void> {
  const { subscription } = entry
  try {
    for (let chunk = await subscription.next(); chunk; chunk = await subscription.next()) {
      fill(entry, chunk)
      flush(state)
      if (!entry.chunk) continue
      await new Promise<void>((resolve) => {
        entry.taken = resolve
      })
    }
  } catch (reason) {
    state.report(reason)
    state.onEnd(reason)
  }
}

/** Sends what the subscriptions have read, as far as it is in order. */
function flush(state: State): void {
  state.again = true
  if (state.isFlushing) return
  state.isFlushing = true
  while (state.again && !state.writer.ended) {
    state.again = false
    const sent = state.writer.write(() => next(state))
    if (sent)
      return void sent.then(() => {
        state.isFlushing = false
        if (state.again) flush(state)
      })
  }
  state.isFlushing = false
}

function next(state: State): Uint8Array | undefined {
  const frames = takeFrames(state.joined)
  if (frames) state.again = true
  for (const { chunk, taken } of state.joined) if (!chunk) taken()
  return frames
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
function filterOf(id: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(atob(id.slice(id.indexOf('.') + 1))))
  } catch {
    return undefined
  }
}

/**
 * The commands about a socket's subscriptions. Functions passed to `later` run after the answer was sent,
 * because clients expect it before the events.
 */
export function subscriptionCommands(
  engine: AgentEngine,
  { threadId, principal, request }: Pick<FaceCall, 'threadId' | 'principal' | 'request'>,
  subscriptions: Subscriptions,
  later: (start: () => void) => void,
): TransportCommands {
  const asked = async (params: unknown) => subscriptionRequest(parse(streamSchema, params), request)
  const open = async (subscribing: Subscribing): Promise<string> => {
    const { id, start } = await subscriptions.open(subscribing)
    later(start)
    return id
  }
  return new Map([
    [
      'subscription.subscribe',
      async (params: unknown) => ({ result: { subscription_id: await open(await asked(params)) } }),
    ],
    [
      'subscription.unsubscribe',
      async (params: unknown) => {
        const { subscription_id } = parse(unsubscribeSchema, params)
        if (subscriptions.close(subscription_id)) return { result: {} }
        throw new ProtocolError('no_such_subscription', 'This socket has no subscription with this id.')
      },
    ],
    [
      'subscription.reconnect',
      async (params: unknown) => {
        const { run_id, last_event_id, subscriptions: ids = [] } = parse(reconnectSchema, params)
        const thread = await engine.findThread({ threadId, principal })
        const tree = thread && (await readTree(engine, thread, run_id))
        if (!tree) throw new ProtocolError('no_such_run', 'Run not found on this thread.')
        const filters = new Map(ids.map((id) => [id, filterOf(id)]))
        const restored = [...filters.values()].every((filter) => filter !== undefined)
        if (restored) {
          // All subscriptions are read before one is opened, so that an invalid one prevents all.
          const all = await Promise.all(
            [...filters].map(async ([id, filter]) => ({ ...(await asked(filter)), id })),
          )
          subscriptions.admit(all.map(({ id }) => id))
          for (const one of all) await open({ ...one, lastEventId: last_event_id })
        }
        return { result: { restored, current_namespaces: namespacesOf(tree) } }
      },
    ],
  ])
}

const namespacesOf = ({ namespace, status, children }: RunTree): readonly object[] => [
  { namespace, status },
  ...children.flatMap(namespacesOf),
]
