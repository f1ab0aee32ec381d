import type { Call } from '../../../core/http/index.ts'
import { lazy } from '../../../core/lazy.ts'
import { type FaceRoute, onDemand } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))

const resourceOf = async (context: PlatformContext, call: Call) =>
  (await endpoints()).resourceOf(context, call)

/** Items of the store for graphs. */
export const STORE_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  [
    'PUT',
    '/store/items',
    'store:put',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).putItem),
    resourceOf,
  ],
  [
    'GET',
    '/store/items',
    'store:get',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).getItem),
    resourceOf,
  ],
  [
    'DELETE',
    '/store/items',
    'store:delete',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).deleteItem),
    resourceOf,
  ],
  [
    'POST',
    '/store/items/search',
    'store:search',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).searchItems),
    resourceOf,
  ],
  [
    'POST',
    '/store/namespaces',
    'store:list_namespaces',
    /* @__PURE__ */ onDemand(async () => (await endpoints()).listNamespaces),
    resourceOf,
  ],
]
