import type { Store } from '../storage/store/store.ts'
import { inheritItems } from './inherit.ts'
import type { Owner } from './layout.ts'
import { listNamespaces } from './namespaces.ts'
import { getItem, type Shelf, searchItems } from './read.ts'
import type {
  GraphStore,
  GraphStoreMatch,
  GraphStoreOperation,
  GraphStoreOptions,
  GraphStorePut,
} from './types.ts'
import { embedTexts, textsOf, type Vectors } from './vectors.ts'
import { lastWrites, writeItems } from './write.ts'

/** Loaded with the first operation. */
let checks: Promise<typeof import('./checks.ts')> | undefined

/** One owner's store for graphs. Owners see nothing of each other, whatever they ask for. */
export function createGraphStore(store: Store, owner: Owner, options: GraphStoreOptions = {}): GraphStore {
  const shelf: Shelf = { store, owner, options }

  async function batch<Results>(operations: readonly GraphStoreOperation[]): Promise<Results> {
    const { assertOperation } = await (checks ??= import('./checks.ts'))
    for (const operation of operations) assertOperation(operation)
    await inheritItems(store, owner)
    const puts = lastWrites(operations.filter(isPut))
    const queries = operations.flatMap((one) => ('namespacePrefix' in one && one.query) || [])
    const texts = puts.flatMap((put) => textsOf(put, options))
    const vectors = await embedTexts([...queries, ...texts], options)
    const results = await Promise.all(operations.map((one) => readFor(shelf, one, vectors)))
    await writeItems(shelf, puts, vectors)
    return results as Results
  }

  /** The result of a batch of one. */
  const only = async <Result>(operation: GraphStoreOperation): Promise<Result> =>
    (await batch<[Result]>([operation]))[0]

  return {
    batch,
    get: (namespace, key, read) => only({ ...read, namespace, key }),
    async put(namespace, key, value, index, write) {
      await batch([{ ...write, namespace, key, value, ...(index !== undefined && { index }) }])
    },
    async delete(namespace, key) {
      await batch([{ namespace, key, value: null }])
    },
    search: (namespacePrefix, search) => only({ ...search, namespacePrefix }),
    listNamespaces: ({ prefix, suffix, ...page } = {}) =>
      only({ ...page, matchConditions: [...matchOf('prefix', prefix), ...matchOf('suffix', suffix)] }),
    start() {},
    stop() {},
  }
}

const isPut = (operation: GraphStoreOperation): operation is GraphStorePut => 'value' in operation

/** LangGraph gives null for a write. */
function readFor(shelf: Shelf, operation: GraphStoreOperation, vectors: Vectors): unknown {
  if ('namespacePrefix' in operation) return searchItems(shelf, operation, vectors)
  if ('value' in operation) return null
  if ('key' in operation) return getItem(shelf, operation)
  return listNamespaces(shelf, operation)
}

const matchOf = (matchType: GraphStoreMatch['matchType'], path: string[] | undefined): GraphStoreMatch[] =>
  path ? [{ matchType, path }] : []
