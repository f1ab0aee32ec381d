/** Which call of a choice a piece of one belongs to. */
export type CallKey = (index: unknown, id: unknown, name: unknown) => unknown

/**
 * Pieces of calls belong together by their index. But servers exist that give all calls the same index and tell them apart by
 * id, or give no index, or neither; and some repeat id and name in every piece.
 */
export function createCallKeys(): CallKey {
  interface Call {
    id: unknown
    name: unknown
  }
  const calls = new Map<unknown, Call>()
  let last: Call | undefined
  return (index, id, name) => {
    const both = id && `${index}/${id}`
    let call = calls.get(both) ?? (index === undefined ? (id || name ? undefined : last) : calls.get(index))
    if (!call || (id ? call.id && call.id !== id : name && call.name && call.name !== name))
      call = { id, name }
    call.id ||= id
    call.name ||= name
    if (both) calls.set(both, call)
    if (index !== undefined) calls.set(index, call)
    last = call
    return call
  }
}
