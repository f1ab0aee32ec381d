import type { GraphStore, GraphStoreItem } from '../../storage/graph-store/index.ts'

/** The options of a store with similarity search. */
export interface GraphStoreIndex {
  readonly embed: (texts: string[]) => Promise<number[][]>
  readonly dims: number
  readonly fields?: string[] | undefined
}

/** The context of a rule. */
export interface GraphStoreContext {
  /** An empty store. */
  readonly store: GraphStore
  readonly openIndexed: (fields?: string[]) => Promise<GraphStore>
  readonly advance: (ms: number) => Promise<void>
}

const WORDS = ['sun', 'rain', 'snow', 'wind']

/** A bag-of-words vector, plus a small component that all texts share. */
const embed = async (texts: string[]): Promise<number[][]> =>
  texts.map((text) => [...WORDS.map((word) => (text.includes(word) ? 1 : 0)), 0.1])

export const INDEX: GraphStoreIndex = { embed, dims: WORDS.length + 1 }

/** An item without its times. */
export const bare = (item: GraphStoreItem | null) =>
  item && { namespace: item.namespace, key: item.key, value: item.value }

export const keysOf = (items: readonly GraphStoreItem[]): string[] => items.map(({ key }) => key)
export const sortedKeys = (items: readonly GraphStoreItem[]): string[] => keysOf(items).sort()

/** Long enough for a millisecond clock to advance. */
export const moment = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 5)
  })
