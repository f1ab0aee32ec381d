import { empty, HttpError, json } from '../../../core/http/index.ts'
import { readBy } from '../../kit/body.ts'
import type { Read, Schema } from '../../kit/parse.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { ask, assertLabels, assertNamespace, fieldsOf, storeOf } from './access.ts'
import { itemSchema, namespacesSchema, presentItem, putSchema, searchSchema } from './wire.ts'

type StoreEndpoint = (context: PlatformContext, call: FaceCall) => Promise<Response>

const read = async <S extends Schema>(schema: S, call: FaceCall): Promise<Read<S>> =>
  readBy(schema, (await fieldsOf(call)) ?? {}, (message) => new HttpError(400, 'invalid_argument', message))

export const putItem: StoreEndpoint = async (context, call) => {
  const { namespace, key, value, index, ttl } = await read(putSchema, call)
  assertNamespace(namespace)
  const store = storeOf(context, call)
  await ask(() => store.put(namespace, key, value, index, ttl === undefined ? {} : { ttl }))
  return empty()
}

export const getItem: StoreEndpoint = async (context, call) => {
  const { namespace = [], key } = await read(itemSchema, call)
  assertLabels(namespace)
  const refresh = call.url.searchParams.get('refresh_ttl')
  const store = storeOf(context, call)
  const item = await ask(() =>
    store.get(namespace, key, refresh === null ? {} : { refreshTtl: refresh.toLowerCase() === 'true' }),
  )
  return json(item && presentItem(item))
}

export const deleteItem: StoreEndpoint = async (context, call) => {
  const { namespace = [], key } = await read(itemSchema, call)
  assertLabels(namespace)
  const store = storeOf(context, call)
  await ask(() => store.delete(namespace, key))
  return empty()
}

export const searchItems: StoreEndpoint = async (context, call) => {
  const {
    namespace_prefix: prefix,
    refresh_ttl: refreshTtl,
    filter,
    ...page
  } = await read(searchSchema, call)
  assertLabels(prefix)
  const store = storeOf(context, call)
  const items = await ask(() =>
    store.search(prefix, {
      ...page,
      ...(filter && { filter: { ...filter } }),
      ...(refreshTtl !== undefined && { refreshTtl }),
    }),
  )
  return json({ items: items.map(presentItem) })
}

export const listNamespaces: StoreEndpoint = async (context, call) => {
  const { max_depth: maxDepth, ...asked } = await read(namespacesSchema, call)
  assertLabels(asked.prefix)
  assertLabels(asked.suffix)
  const store = storeOf(context, call)
  const namespaces = await ask(() =>
    store.listNamespaces({ ...asked, ...(maxDepth !== undefined && { maxDepth }) }),
  )
  return json({ namespaces })
}
