import type { StreamStore } from '@langchain/langgraph-sdk/stream'

/** Settles with the first value of one of the SDK's stores for which `holds` is true. */
export function untilStore<T>(store: StreamStore<T>, holds: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const look = () => {
      const value = store.getSnapshot()
      if (!holds(value)) return
      off()
      resolve(value)
    }
    const off = store.subscribe(look)
    look()
  })
}
