import type { PartitionChange, PartitionListener } from './store.ts'

export type PartitionListeners = ReturnType<typeof createListeners>

/**
 * This process's listeners, by notification key. `onLast` is called when the last listener of a key was
 * removed.
 */
export function createListeners(onLast: (key: string) => void = () => {}) {
  const listeners = new Map<string, Set<PartitionListener>>()

  function notify(key: string, change: PartitionChange): void {
    for (const listener of [...(listeners.get(key) ?? [])]) {
      try {
        listener(change)
      } catch (error) {
        console.error('agentwire: a store.watch listener threw an error.', error)
      }
    }
  }

  return {
    add(key: string, listener: PartitionListener): () => void {
      const added = listeners.get(key) ?? new Set()
      listeners.set(key, added)
      // A wrapper, so that the same function can be added twice and each removal removes its own.
      const own: PartitionListener = (change) => listener(change)
      added.add(own)
      return () => {
        if (!added.delete(own) || added.size > 0 || listeners.get(key) !== added) return
        listeners.delete(key)
        onLast(key)
      }
    },
    notify,
    /** Notifications of these keys may have been missed. */
    notifyMissed(keys: Iterable<string> = [...listeners.keys()]): void {
      for (const key of keys) notify(key, EVERYTHING)
    },
    has: (key: string): boolean => listeners.has(key),
    keys: (): string[] => [...listeners.keys()],
    clear: (): void => listeners.clear(),
  }
}

export const EVERYTHING: PartitionChange = { log: true, docs: true }

/** A change as one character, for messages between processes. */
export function markOf({ log, docs }: PartitionChange): string {
  return log ? (docs ? '*' : 'l') : 'd'
}

export function changeOf(mark: string): PartitionChange {
  return { log: mark !== 'd', docs: mark !== 'l' }
}
