const KEY = 'positions'
const MOST = 100

/**
 * The scroll positions of conversations, by thread, for the lifetime of the tab. A thread scrolled to its end
 * has none.
 */
export function positionOf(threadId: string): number | undefined {
  return new Map(read()).get(threadId)
}

export function keepPosition(threadId: string, top: number | undefined): void {
  const others = read().filter(([id]) => id !== threadId)
  const kept = top === undefined ? others : [...others, [threadId, top] as const]
  sessionStorage.setItem(KEY, JSON.stringify(kept.slice(-MOST)))
}

const read = (): readonly (readonly [threadId: string, top: number])[] =>
  JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
