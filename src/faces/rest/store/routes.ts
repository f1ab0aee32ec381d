import { type FaceRow, route } from '../../kit/routes.ts'
import { item } from '../answers.ts'
import type { PlatformContext } from '../context.ts'
import { resourceOf } from './access.ts'
import { deleteItem, getItem, listNamespaces, putItem, searchItems } from './endpoints.ts'
import { itemSchema, namespacesSchema, putSchema, searchSchema } from './wire.ts'

const text = { type: 'string' }
const listOf = (items: object) => ({ type: 'array', items })

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
