import { stringOf, toText } from './fields.ts'

interface Call {
  id: unknown
  name: unknown
}

/** The calls of a response or a request so far. A call without an id gets one with its number in it. */
export interface Calls {
  /** Stands before the number, so that ids of different responses differ. */
  readonly prefix: string
  count: number
  readonly waiting: Call[]
  readonly answered: Call[]
}

export const createCalls = (prefix: string): Calls => ({ prefix, count: 0, waiting: [], answered: [] })

export function idOfCall(calls: Calls, id: unknown, name: unknown): string {
  const known = stringOf(id) || `${calls.prefix}-${calls.count}`
  calls.count += 1
  calls.waiting.push({ id: known, name })
  return known
}

/** The id of the call that a result answers. Without one: the first waiting call of its name, or the last. */
export function idOfAnsweredCall({ waiting, answered }: Calls, id: unknown, name: unknown): string {
  const at = waiting.findIndex((call) => (id ? call.id === id : call.name === name))
  if (at >= 0) answered.push(...waiting.splice(at, 1))
  if (id) return toText(id)
  return toText(answered.findLast((call) => call.name === name)?.id ?? name)
}

/** Tells which call a streamed piece belongs to. `place` is the position of the piece in its chunk. */
export type CallKey = (index: unknown, id: unknown, name: unknown, place?: number) => unknown

/**
 * Pieces of one call have the same index. Some servers give all calls one index and tell them apart by id;
 * others send no index, or neither, so that only the place tells; and some repeat id and name in every piece.
 */
export function createCallKeys(): CallKey {
  const calls = new Map<unknown, Call>()
  const places: Call[] = []
  let last: Call | undefined
  return (index, id, name, place = 0) => {
    const both = id && `${index}/${id}`
    let call =
      calls.get(both) ??
      (index === undefined ? (id || name ? undefined : (places[place] ?? last)) : calls.get(index))
    if (!call || (id ? call.id && call.id !== id : name && call.name && call.name !== name))
      call = { id, name }
    call.id ||= id
    call.name ||= name
    if (both) calls.set(both, call)
    if (index !== undefined) calls.set(index, call)
    places[place] = last = call
    return call
  }
}
