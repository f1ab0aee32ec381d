import type { Bell, Ring } from './store.ts'

/** The bells that hang in this process, by what they ring for. */
export interface Bells {
  /** Gives the function that takes it down. */
  hang(key: string, bell: Bell): () => void
  ring(key: string, ring: Ring): void
  has(key: string): boolean
  keys(): string[]
  clear(): void
}

/** `onLast` is told when the last bell of a key was taken down. */
export function createBells(onLast: (key: string) => void = () => {}): Bells {
  const bells = new Map<string, Set<Bell>>()
  return {
    hang(key, bell) {
      const hung = bells.get(key) ?? new Set()
      bells.set(key, hung)
      // A wrapper, so that one function may hang twice and each stop its own.
      const own: Bell = (ring) => bell(ring)
      hung.add(own)
      return () => {
        if (!hung.delete(own) || hung.size > 0 || bells.get(key) !== hung) return
        bells.delete(key)
        onLast(key)
      }
    },
    ring(key, ring) {
      for (const bell of [...(bells.get(key) ?? [])]) {
        try {
          bell(ring)
        } catch (error) {
          console.error('agentwire: a bell of store.watch threw.', error)
        }
      }
    },
    has: (key) => bells.has(key),
    keys: () => [...bells.keys()],
    clear: () => bells.clear(),
  }
}

export const EVERYTHING: Ring = { log: true, docs: true }

/** A ring as one character, for messages between processes. */
export function markOf({ log, docs }: Ring): string {
  return log ? (docs ? '*' : 'l') : 'd'
}

export function ringOf(mark: string): Ring {
  return { log: mark !== 'd', docs: mark !== 'l' }
}
