/** Which call of a choice a piece of one belongs to. `place` is where it stands in the list of its chunk. */
export type CallKey = (index: unknown, id: unknown, name: unknown, place?: number) => unknown

/**
 * Pieces of calls belong together by their index. But servers exist that give all calls the same index and tell them apart by
 * id, or give no index, or neither, so that only its place tells; and some repeat id and name in every piece.
 */
export function createCallKeys(): CallKey {
  interface Call {
    id: unknown
    name: unknown
  }
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
