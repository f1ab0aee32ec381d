import { stringOf, toText } from '../fields.ts'

interface WaitingCall {
  readonly id: unknown
  readonly name: unknown
  isAnswered: boolean
}

/** The calls of one id or one name, in order. Those before `at` are answered. */
interface Queue {
  readonly calls: WaitingCall[]
  at: number
}

/** The calls of a response or a request so far. A call without an id gets one with its number in it. */
export interface Calls {
  /** Stands before the number, so that ids of different responses differ. */
  readonly prefix: string
  readonly made: WaitingCall[]
  /** The queues of the first `queued` calls, by id and by name. Only results need them. */
  queues:
    | { readonly byId: Map<unknown, Queue>; readonly byName: Map<unknown, Queue>; queued: number }
    | undefined
}

export const createCalls = (prefix: string): Calls => ({ prefix, made: [], queues: undefined })

export function idOfCall({ prefix, made }: Calls, id: unknown, name: unknown): string {
  const known = stringOf(id) || `${prefix}-${made.length}`
  made.push({ id: known, name, isAnswered: false })
  return known
}

function add(queues: Map<unknown, Queue>, key: unknown, call: WaitingCall): void {
  const queue = queues.get(key)
  if (queue) queue.calls.push(call)
  else queues.set(key, { calls: [call], at: 0 })
}

/** The id of the call that a result answers. Without one: the first waiting call of its name, or the last. */
export function idOfAnsweredCall(calls: Calls, id: unknown, name: unknown): string {
  const queues = (calls.queues ??= { byId: new Map(), byName: new Map(), queued: 0 })
  for (; queues.queued < calls.made.length; queues.queued++) {
    const call = calls.made[queues.queued]!
    add(queues.byId, call.id, call)
    add(queues.byName, call.name, call)
  }
  const queue = id ? queues.byId.get(id) : queues.byName.get(name)
  while (queue?.calls[queue.at]?.isAnswered) queue.at += 1
  const call = queue?.calls[queue.at]
  if (call) call.isAnswered = true
  return toText(id || (call ?? queue?.calls.at(-1))?.id || name)
}

/** A call whose pieces are being read. It is the key of its block. */
export interface CallInPieces {
  id: unknown
  /** As far as it has come. */
  name: string
  hasArgs: boolean
}

/**
 * Tells which call a streamed piece belongs to. `place` is the position of the piece in its chunk, which
 * stands for a missing index. `args` are the piece's arguments, of any type.
 */
export type CallKey = (
  index: unknown,
  id: unknown,
  name: unknown,
  args: unknown,
  place: number,
) => CallInPieces

/**
 * Pieces of one call have the same index. Some servers give all calls one index and tell them apart by id;
 * others send no index, or neither, so that only the place tells; some repeat id and name in every piece, send
 * the name in pieces, or a new id with each piece, of which only the first has a name.
 */
export function createCallKeys(): CallKey {
  const calls = new Map<unknown, CallInPieces>()
  let last: CallInPieces | undefined
  return (index, id, wireName, args, place) => {
    const name = stringOf(wireName)
    const numbered = index !== undefined && index !== null
    const at = numbered ? index : place
    const own = id ? `${at}/${id}` : undefined
    const known = own === undefined ? undefined : calls.get(own)
    let call = known || calls.get(at) || (id || name || numbered ? undefined : last)
    const isOther = call && (id ? call.id : !numbered || (call.hasArgs && call.name && call.name !== name))
    if (!call || (name && isOther && !known)) call = { id, name: '', hasArgs: false }
    call.id ||= id
    if (!call.hasArgs || !call.name) call.name = name.startsWith(call.name) ? name : call.name + name
    call.hasArgs ||= !!args
    if (own) calls.set(own, call)
    calls.set(at, (last = call))
    return call
  }
}
