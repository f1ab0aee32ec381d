import * as z from 'zod/mini'
import {
  described,
  NOT_EMPTY,
  OPT_STRING,
  OPT_STRINGS,
  PAGE_QUERY,
  pageOf,
  STRING,
  TIME,
  titled,
  UUID,
} from './common.ts'

const COMPUTE_TYPE = /* @__PURE__ */ z.literal('k8s')
const COMPUTE_CONFIG = /* @__PURE__ */ titled('ListenerComputeConfig', { k8s_namespaces: OPT_STRINGS })

export const LISTENER_PATH = /* @__PURE__ */ z.object({ listener_id: UUID })

export const LISTENER = /* @__PURE__ */ titled('Listener', {
  id: UUID,
  version: OPT_STRING,
  compute_type: COMPUTE_TYPE,
  compute_id: STRING,
  compute_config: COMPUTE_CONFIG,
  created_at: TIME,
  updated_at: TIME,
})

export const LISTENER_PAGE = /* @__PURE__ */ pageOf('ListenersList', LISTENER)

export const LIST_LISTENERS = /* @__PURE__ */ z.object(PAGE_QUERY)

export const CREATE_LISTENER = /* @__PURE__ */ titled('ListenerCreateRequest', {
  compute_type: COMPUTE_TYPE,
  compute_id: described(NOT_EMPTY, 'Unique in the workspace.'),
  compute_config: COMPUTE_CONFIG,
  version: OPT_STRING,
})

export const PATCH_LISTENER = /* @__PURE__ */ titled('ListenerPatchRequest', {
  version: OPT_STRING,
  compute_config: z.nullish(COMPUTE_CONFIG),
})
