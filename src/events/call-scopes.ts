type Namespace = readonly string[]

/** Which call of a tool each namespace is that of. */
export interface CallScopes {
  /** A call has begun at this namespace. */
  begin(namespace: Namespace, toolCallId: string): void
  /** Whether this call has begun at the namespace itself. */
  isAt(namespace: Namespace, toolCallId: string | null): boolean
  /**
   * The call that a namespace is in, or the first `length` of its segments: the innermost of those that began at it or around it. A call
   * that began before the first event is named by its segment, such as `tools:<task id>`. Null outside of all calls.
   */
  ownerOf(namespace: Namespace, length?: number): string | null
}

export function createCallScopes(): CallScopes {
  const callOf = new Map<string, string>()
  return {
    begin: (namespace, toolCallId) => void callOf.set(keyOf(namespace), toolCallId),
    isAt: (namespace, toolCallId) => callOf.get(keyOf(namespace)) === toolCallId,
    ownerOf(namespace, length = namespace.length) {
      for (let end = length; end > 0; end--) {
        const call = callOf.get(keyOf(namespace.slice(0, end)))
        if (call !== undefined) return call
      }
      return namespace.slice(0, length).findLast((segment) => segment.startsWith('tools:')) ?? null
    },
  }
}

const keyOf = (namespace: Namespace): string => JSON.stringify(namespace)
