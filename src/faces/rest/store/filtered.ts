import { HttpError } from '../../../core/http/index.ts'
import { equalitiesOf, type MetadataFilter, passes } from '../../../core/metadata-filter.ts'
import type { GraphStore } from '../../../storage/graph-store/index.ts'

/** The part of a store that REST serves. */
export type ServedStore = Pick<GraphStore, 'get' | 'put' | 'delete' | 'search' | 'listNamespaces'>

/** Items per store call. */
const PAGE = 500
/** The maximum number of items or namespaces that one request reads. */
const MAX_LOOKED_AT = 10_000

/**
 * The store behind a permission's filter. The filter applies to the fields of an item's value, and to its
 * `namespace` and `key`. A namespace alone has no other fields.
 */
export function filteredStore(store: GraphStore, filter: MetadataFilter): ServedStore {
  const isSeen = (namespace: readonly string[], key?: string, value?: object): boolean =>
    passes(filter, { ...value, namespace, ...(key !== undefined && { key }) })
  const get: GraphStore['get'] = async (namespace, key, options) => {
    const item = await store.get(namespace, key, options)
    return item && isSeen(item.namespace, item.key, item.value) ? item : null
  }
  return {
    get,
    async put(namespace, key, value, index, options) {
      const before = await store.get(namespace, key, { refreshTtl: false })
      const isAllowed = !before || isSeen(before.namespace, before.key, before.value)
      if (!isAllowed || !isSeen(namespace, key, value))
        throw new HttpError(403, 'permission_denied', 'Not authorized')
      await store.put(namespace, key, value, index, options)
    },
    async delete(namespace, key) {
      if (await get(namespace, key, { refreshTtl: false })) await store.delete(namespace, key)
    },
    search(prefix, { offset = 0, limit = 10, filter: asked, ...options } = {}) {
      // The store searches for the filter's values. They override the request's values for the same keys.
      const { namespace: _, key: __, ...values } = equalitiesOf(filter)
      const query = { ...options, filter: { ...values, ...asked } }
      return pageOf(
        (from, many) => store.search(prefix, { ...query, offset: from, limit: many }),
        ({ namespace, key, value }) => isSeen(namespace, key, value),
        { offset, limit },
      )
    },
    listNamespaces({ offset = 0, limit = 100, ...options } = {}) {
      return pageOf(
        (from, many) => store.listNamespaces({ ...options, offset: from, limit: many }),
        (namespace) => isSeen(namespace),
        { offset, limit },
      )
    },
  }
}

/** A page of matching items. Throws 400 if it would have to read too many. */
async function pageOf<Item>(
  read: (offset: number, limit: number) => Promise<readonly Item[]>,
  isSeen: (item: Item) => boolean,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Item[]> {
  const seen: Item[] = []
  for (let at = 0; at < MAX_LOOKED_AT; at += PAGE) {
    const items = await read(at, PAGE)
    for (const item of items) if (isSeen(item)) seen.push(item)
    if (items.length < PAGE || seen.length >= offset + limit) return seen.slice(offset, offset + limit)
  }
  const message = `The search would have to look at more than ${MAX_LOOKED_AT} items: use a longer namespace.`
  throw new HttpError(400, 'invalid_argument', message)
}
