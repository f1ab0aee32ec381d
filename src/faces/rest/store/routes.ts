import * as z from 'zod/mini'
import { empty, HttpError, json } from '../../../core/http/index.ts'
import { isRecord } from '../../../messages/record.ts'
import type { GraphStoreItem, GraphStoreSearchItem } from '../../../storage/graph-store/index.ts'
import { readBy } from '../../kit/body.ts'
import type { Read, Schema } from '../../kit/parse.ts'
import { type FaceCall, type FaceRow, route } from '../../kit/routes.ts'
import { integer, list, map, number, object, record, refuse } from '../../kit/schema.ts'
import { item } from '../answers.ts'
import type { PlatformContext } from '../context.ts'
import { ask, assertLabels, assertNamespace, fieldsOf, resourceOf, storeOf } from './access.ts'

const listOf = (items: object) => ({ type: 'array', items })
const text = { type: 'string' }

const MAX_PAGE = 1_000
/** One more than a store accepts, so that the store itself reports the error. */
const labels = list(z.string(), 0, 33)
/** Stored as JSON and never merged into another object, so a key `__proto__` is safe. */
const jsonObject = map(z.unknown(), (value, payload): Record<string, unknown> => {
  if (isRecord(value)) return value
  return refuse(payload, 'an object')
})
const minutes = number('a number of minutes above 0', z.gt(0))

const putSchema = object({
  namespace: labels,
  key: z.string(),
  value: jsonObject,
  index: z.optional(z.union([z.literal(false), list(z.string(), 0, 100)], 'false or an array of paths')),
  ttl: z.optional(minutes),
})

const itemSchema = object({
  namespace: z.optional(labels),
  key: z.string(),
})

const searchSchema = object({
  namespace_prefix: labels,
  filter: z.optional(record),
  limit: z.optional(integer(1, MAX_PAGE)),
  offset: z.optional(integer(0)),
  query: z.optional(z.string()),
  refresh_ttl: z.optional(z.boolean()),
})

const namespacesSchema = object({
  prefix: z.optional(labels),
  suffix: z.optional(labels),
  max_depth: z.optional(integer(1)),
  limit: z.optional(integer(1, MAX_PAGE)),
  offset: z.optional(integer(0)),
})

/** An item in the clients' format. Only a similarity search sets its score. */
const presentItem = ({ createdAt, updatedAt, ...item }: GraphStoreItem | GraphStoreSearchItem) => ({
  namespace: item.namespace,
  key: item.key,
  value: item.value,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
  ...('score' in item && item.score !== undefined && { score: item.score }),
})

type StoreEndpoint = (context: PlatformContext, call: FaceCall) => Promise<Response>

const read = async <S extends Schema>(schema: S, call: FaceCall): Promise<Read<S>> =>
  readBy(schema, (await fieldsOf(call)) ?? {}, (message) => new HttpError(400, 'invalid_argument', message))

const putItem: StoreEndpoint = async (context, call) => {
  const { namespace, key, value, index, ttl } = await read(putSchema, call)
  assertNamespace(namespace)
  const store = storeOf(context, call)
  await ask(() => store.put(namespace, key, value, index, ttl === undefined ? {} : { ttl }))
  return empty()
}

const getItem: StoreEndpoint = async (context, call) => {
  const { namespace = [], key } = await read(itemSchema, call)
  assertLabels(namespace)
  const refresh = call.url.searchParams.get('refresh_ttl')
  const store = storeOf(context, call)
  const item = await ask(() =>
    store.get(namespace, key, refresh === null ? {} : { refreshTtl: refresh.toLowerCase() === 'true' }),
  )
  return json(item && presentItem(item))
}

const deleteItem: StoreEndpoint = async (context, call) => {
  const { namespace = [], key } = await read(itemSchema, call)
  assertLabels(namespace)
  const store = storeOf(context, call)
  await ask(() => store.delete(namespace, key))
  return empty()
}

const searchItems: StoreEndpoint = async (context, call) => {
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

const listNamespaces: StoreEndpoint = async (context, call) => {
  const { max_depth: maxDepth, ...asked } = await read(namespacesSchema, call)
  assertLabels(asked.prefix)
  assertLabels(asked.suffix)
  const store = storeOf(context, call)
  const namespaces = await ask(() =>
    store.listNamespaces({ ...asked, ...(maxDepth !== undefined && { maxDepth }) }),
  )
  return json({ namespaces })
}

/** Items of the store for graphs. Their fields are in the body or, of a GET, in the query, so `run` reads them. */
export const STORE_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('PUT', '/store/items', {
    permission: 'store:put',
    resource: resourceOf,
    summary: 'Put an item into the store for graphs.',
    body: (toJson) => toJson(putSchema),
    answers: { 204: null },
    run: putItem,
  }),
  route('GET', '/store/items', {
    permission: 'store:get',
    resource: resourceOf,
    summary: 'Get an item of the store.',
    query: { namespace: text, key: text, refresh_ttl: { type: 'boolean' } },
    answers: { 200: { anyOf: [item, { type: 'null' }] } },
    run: getItem,
  }),
  route('DELETE', '/store/items', {
    permission: 'store:delete',
    resource: resourceOf,
    summary: 'Delete an item of the store.',
    body: (toJson) => toJson(itemSchema),
    answers: { 204: null },
    run: deleteItem,
  }),
  route('POST', '/store/items/search', {
    permission: 'store:search',
    resource: resourceOf,
    summary: 'Search items of the store.',
    body: (toJson) => toJson(searchSchema),
    answers: { 200: { type: 'object', properties: { items: listOf(item) }, required: ['items'] } },
    run: searchItems,
  }),
  route('POST', '/store/namespaces', {
    permission: 'store:list_namespaces',
    resource: resourceOf,
    summary: 'List namespaces of the store.',
    body: (toJson) => toJson(namespacesSchema),
    answers: {
      200: { type: 'object', properties: { namespaces: listOf(listOf(text)) }, required: ['namespaces'] },
    },
    run: listNamespaces,
  }),
]
