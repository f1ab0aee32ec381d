import type { PartitionChange, PartitionListener } from './store.ts'

/** The bells that hang in this process, by what they ring for. */
export interface PartitionListeners {
  /** Gives the function that takes it down. */
  add(key: string, bell: PartitionListener): () => void
  notify(key: string, ring: PartitionChange): void
  has(key: string): boolean
  keys(): string[]
  clear(): void
}

/** `onLast` is told when the last bell of a key was taken down. */
export function createListeners(onLast: (key: string) => void = () => {}): PartitionListeners {
  const bells = new Map<string, Set<PartitionListener>>()
  return {
    add(key, bell) {
      const hung = bells.get(key) ?? new Set()
      bells.set(key, hung)
      // A wrapper, so that one function may hang twice and each stop its own.
      const own: PartitionListener = (ring) => bell(ring)
      hung.add(own)
      return () => {
        if (!hung.delete(own) || hung.size > 0 || bells.get(key) !== hung) return
        bells.delete(key)
        onLast(key)
      }
    },
    notify(key, ring) {
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

export const EVERYTHING: PartitionChange = { log: true, docs: true }

/** A ring as one character, for messages between processes. */
export function markOf({ log, docs }: PartitionChange): string {
  return log ? (docs ? '*' : 'l') : 'd'
}

export function changeOf(mark: string): PartitionChange {
  return { log: mark !== 'd', docs: mark !== 'l' }
}
