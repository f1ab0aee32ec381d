/** How many threads are remembered. */
const MOST = 100

interface PerThread<Value> {
  readonly get: (threadId: string) => Value | undefined
  /** Undefined forgets the thread's value. */
  readonly set: (threadId: string, value: Value | undefined) => void
}

/** Remembers a value for each thread, under a name, for the lifetime of the tab. */
export function perThread<Value>(name: string): PerThread<Value> {
  const read = (): readonly (readonly [threadId: string, value: Value])[] =>
    JSON.parse(sessionStorage.getItem(name) ?? '[]')
  return {
    get: (threadId) => new Map(read()).get(threadId),
    set(threadId, value) {
      const others = read().filter(([id]) => id !== threadId)
      const kept = value === undefined ? others : [...others, [threadId, value] as const]
      sessionStorage.setItem(name, JSON.stringify(kept.slice(-MOST)))
    },
  }
}
