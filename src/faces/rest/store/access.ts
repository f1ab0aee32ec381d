import { filteredPage, MAX_LOOKED_AT } from '../../../core/filtered-page.ts'
import { HttpError } from '../../../core/http/index.ts'
import { equalitiesOf, type MetadataFilter, passes } from '../../../core/metadata-filter.ts'
import { accessOf } from '../../../core/principal.ts'
import { internalsOf } from '../../../engine/index.ts'
import { type GraphStore, GraphStoreError } from '../../../storage/graph-store/index.ts'
import type { ThreadResource } from '../../kit/access.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'

/**
 * The fields of a store request: its body or the query of a GET, overridden by fields that `authorize` has
 * set.
 */
export async function fieldsOf({
  request,
  url,
  json,
}: Pick<FaceCall, 'request' | 'url' | 'json'>): Promise<unknown> {
  const body = await json()
  if (request.method !== 'GET') return body
  const { searchParams } = url
  const namespace = searchParams.get('namespace')
  return {
    namespace: namespace ? namespace.split('.') : [],
    key: searchParams.get('key') ?? undefined,
    ...(body as object | null | undefined),
  }
}

/** The resource for `authorize`. */
export async function resourceOf(
  _context: PlatformContext,
  call: Parameters<typeof fieldsOf>[0],
): Promise<ThreadResource> {
  const fields = Object((await fieldsOf(call)) ?? {})
  const namespace = fields.namespace ?? fields.namespace_prefix ?? fields.prefix ?? []
  return {
    namespace: Array.isArray(namespace) ? namespace.map(String) : [],
    ...(typeof fields.key === 'string' && { key: fields.key }),
  }
}

/** The caller's store. Throws 403 if all users share it and there is no `authorize`. */
export function storeOf({ engine, authorize }: PlatformContext, { principal }: FaceCall): ServedStore {
  const { metadataFilter } = accessOf(principal)
  if (!internalsOf(engine).sharesGraphStore || principal === null || authorize) {
    const store = engine.graphStore(principal)
    return metadataFilter ? filteredStore(store, metadataFilter) : store
  }
  throw new HttpError(
    403,
    'permission_denied',
    'All users share the store of this server. It is served only when `authorize` decides which namespaces each user may use.',
  )
}

/** Throws 400 if there is none, and 422 for a label that no item can have. */
export function assertNamespace(namespace: readonly string[] | undefined): asserts namespace is string[] {
  if (!namespace?.length) throw new HttpError(400, 'invalid_argument', 'Namespace is required')
  assertLabels(namespace)
}

export function assertLabels(namespace: readonly string[] = []): void {
  if (namespace.every((label) => label !== '' && !label.includes('.'))) return
  const message = `The labels of a namespace cannot be empty or contain periods: ${JSON.stringify(namespace)}.`
  throw new HttpError(422, 'invalid_namespace', message)
}

/**
 * Calls the store and maps its rejections to 400 and 422. Custom stores throw LangGraph's
 * `InvalidNamespaceError`.
 */
export async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GraphStoreError && error.code !== 'embed_failed')
      throw new HttpError(error.code === 'invalid_argument' ? 400 : 422, error.code, error.message)
    if (error instanceof Error && error.name === 'InvalidNamespaceError')
      throw new HttpError(422, 'invalid_namespace', error.message)
    throw error
  }
}

/** The part of a store that REST serves. */
type ServedStore = Pick<GraphStore, 'get' | 'put' | 'delete' | 'search' | 'listNamespaces'>

/** Items per store call. */
const PAGE = 500

/**
 * The store behind a permission's filter. The filter applies to the fields of an item's value, and to its
 * `namespace` and `key`. A namespace alone has no other fields.
 */
function filteredStore(store: GraphStore, filter: MetadataFilter): ServedStore {
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
  async function* all() {
    for (let at = 0; ; at += PAGE) {
      const items = await read(at, PAGE)
      yield* items
      if (items.length < PAGE) return
    }
  }
  const { items, total, looked } = await filteredPage(all(), isSeen, {
    offset,
    limit,
    countTo: offset + limit,
  })
  if (looked < MAX_LOOKED_AT || total >= offset + limit) return items
  const message = `The search would have to look at more than ${MAX_LOOKED_AT} items: use a longer namespace.`
  throw new HttpError(400, 'invalid_argument', message)
}
