import type { Call } from '../../../core/http/index.ts'
import { lazy } from '../../../core/lazy.ts'
import { type FaceRoute, onDemand } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'

const records = /* @__PURE__ */ lazy(() => import('./records.ts'))
const descriptions = /* @__PURE__ */ lazy(() => import('./describe.ts'))

const namedAssistant = async (context: PlatformContext, call: Call) =>
  (await records()).namedAssistant(context, call)
const namedGraph = async (context: PlatformContext, call: Call) => (await records()).namedGraph(context, call)

/** Assistants: graphs with their own config, context and metadata, in versions. */
export const ASSISTANT_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  [
    'POST',
    '/assistants',
    'assistants:create',
    /* @__PURE__ */ onDemand(async () => (await records()).postAssistant),
    namedGraph,
  ],
  [
    'POST',
    '/assistants/search',
    'assistants:search',
    /* @__PURE__ */ onDemand(async () => (await records()).search),
  ],
  [
    'POST',
    '/assistants/count',
    'assistants:search',
    /* @__PURE__ */ onDemand(async () => (await records()).count),
  ],
  [
    'GET',
    '/assistants/:assistant_id',
    'assistants:read',
    /* @__PURE__ */ onDemand(async () => (await records()).getAssistant),
    namedAssistant,
  ],
  [
    'PATCH',
    '/assistants/:assistant_id',
    'assistants:update',
    /* @__PURE__ */ onDemand(async () => (await records()).patchOne),
    namedAssistant,
  ],
  [
    'DELETE',
    '/assistants/:assistant_id',
    'assistants:delete',
    /* @__PURE__ */ onDemand(async () => (await records()).deleteOne),
    namedAssistant,
  ],
  [
    'GET',
    '/assistants/:assistant_id/graph',
    'assistants:read',
    /* @__PURE__ */ onDemand(async () => (await descriptions()).getGraph),
    namedAssistant,
  ],
  [
    'GET',
    '/assistants/:assistant_id/schemas',
    'assistants:read',
    /* @__PURE__ */ onDemand(async () => (await descriptions()).getSchemas),
    namedAssistant,
  ],
  [
    'GET',
    '/assistants/:assistant_id/subgraphs',
    'assistants:read',
    /* @__PURE__ */ onDemand(async () => (await descriptions()).getSubgraphs),
    namedAssistant,
  ],
  [
    'GET',
    '/assistants/:assistant_id/subgraphs/:namespace',
    'assistants:read',
    /* @__PURE__ */ onDemand(async () => (await descriptions()).getSubgraphs),
    namedAssistant,
  ],
  [
    'POST',
    '/assistants/:assistant_id/versions',
    'assistants:read',
    /* @__PURE__ */ onDemand(async () => (await records()).versions),
    namedAssistant,
  ],
  [
    'POST',
    '/assistants/:assistant_id/latest',
    'assistants:update',
    /* @__PURE__ */ onDemand(async () => (await records()).latest),
    namedAssistant,
  ],
]
