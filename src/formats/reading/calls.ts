import { stringOf, toText } from './fields.ts'

interface WaitingCall {
  readonly id: unknown
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
  count: number
  readonly byId: Map<unknown, Queue>
  readonly byName: Map<unknown, Queue>
}

export const createCalls = (prefix: string): Calls => ({
  prefix,
  count: 0,
  byId: new Map(),
  byName: new Map(),
})

export function idOfCall(calls: Calls, id: unknown, name: unknown): string {
  const known = stringOf(id) || `${calls.prefix}-${calls.count}`
  calls.count += 1
  const call: WaitingCall = { id: known, isAnswered: false }
  add(calls.byId, known, call)
  add(calls.byName, name, call)
  return known
}

function add(queues: Map<unknown, Queue>, key: unknown, call: WaitingCall): void {
  const queue = queues.get(key)
  if (queue) queue.calls.push(call)
  else queues.set(key, { calls: [call], at: 0 })
}

/** The id of the call that a result answers. Without one: the first waiting call of its name, or the last. */
export function idOfAnsweredCall({ byId, byName }: Calls, id: unknown, name: unknown): string {
  const queue = id ? byId.get(id) : byName.get(name)
  if (queue) {
    while (queue.calls[queue.at]?.isAnswered) queue.at += 1
    const call = queue.calls[queue.at]
    if (call) call.isAnswered = true
  }
  return toText(id || (queue?.calls[queue.at] ?? queue?.calls.at(-1))?.id || name)
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
    const at = index ?? place
    const own = id ? `${at}/${id}` : undefined
    let call = (own !== undefined && calls.get(own)) || goesOn(calls.get(at))
    if (!call && !id && !name && (index === undefined || index === null)) call = last
    call ??= { id, name: '', hasArgs: false }
    call.id ||= id
    if (!call.name || (name.startsWith(call.name) && !call.hasArgs)) call.name = name || call.name
    else if (!call.hasArgs && name !== call.name) call.name += name
    call.hasArgs ||= !!args
    if (own !== undefined) calls.set(own, call)
    calls.set(at, call)
    last = call
    return call

    function goesOn(known: CallInPieces | undefined): CallInPieces | undefined {
      if (!known || !name) return known
      // A complete call comes without index and id, and its name may be that of the call before it.
      if (id ? known.id && known.id !== id : index === undefined || index === null) return undefined
      return known.hasArgs && known.name && known.name !== name ? undefined : known
    }
  }
}
