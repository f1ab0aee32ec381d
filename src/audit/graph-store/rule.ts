import type { GraphStore, GraphStoreItem } from '../../graph-store/index.ts'

/** What a store that searches by similarity is made with. */
export interface GraphStoreIndex {
  readonly embed: (texts: string[]) => Promise<number[][]>
  readonly dims: number
  readonly fields?: string[] | undefined
}

/** What a rule needs. */
export interface GraphStoreContext {
  /** An empty store. */
  readonly store: GraphStore
  readonly openIndexed: (fields?: string[]) => Promise<GraphStore>
  readonly advance: (ms: number) => Promise<void>
}

const WORDS = ['sun', 'rain', 'snow', 'wind']

/** A vector of which words a text has, and a little of something that all texts share. */
const embed = async (texts: string[]): Promise<number[][]> =>
  texts.map((text) => [...WORDS.map((word) => (text.includes(word) ? 1 : 0)), 0.1])

export const INDEX: GraphStoreIndex = { embed, dims: WORDS.length + 1 }

/** An item without its times. */
export const bare = (item: GraphStoreItem | null) =>
  item && { namespace: item.namespace, key: item.key, value: item.value }

export const keysOf = (items: readonly GraphStoreItem[]): string[] => items.map(({ key }) => key)
export const sortedKeys = (items: readonly GraphStoreItem[]): string[] => keysOf(items).sort()

/** Long enough for a clock of milliseconds to move. */
export const moment = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 5)
  })
