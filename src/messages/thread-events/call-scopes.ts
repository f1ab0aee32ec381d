type Namespace = readonly string[]

/** Maps namespaces to the tool calls that they belong to. */
export interface CallScopes {
  /** A call began at this namespace. */
  begin(namespace: Namespace, toolCallId: string): void
  /** Whether this call began at exactly this namespace. */
  isAt(namespace: Namespace, toolCallId: string | null): boolean
  /**
   * The innermost call that contains a namespace, or its first `length` segments. If the call began before
   * the first event, its segment such as `tools:<task id>`. Null outside of all calls.
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
