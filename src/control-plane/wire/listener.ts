import * as z from 'zod/mini'
import * as t from './common.ts'

const COMPUTE_TYPE = z.literal('k8s')
const COMPUTE_CONFIG = t.titled('ListenerComputeConfig', { k8s_namespaces: t.OPT_STRINGS })

export const LISTENER_PATH = z.object({ listener_id: t.UUID })

export const LISTENER = t.titled('Listener', {
  compute_type: COMPUTE_TYPE,
  compute_id: t.STRING,
  compute_config: COMPUTE_CONFIG,
  id: t.UUID,
  created_at: t.TIME,
  updated_at: t.TIME,
  version: t.OPT_STRING,
})

export const LISTENER_PAGE = t.pageOf('ListenersList', LISTENER)

export const LIST_LISTENERS = z.object(t.PAGE_QUERY)

export const CREATE_LISTENER = t.titled('ListenerCreateRequest', {
  compute_type: COMPUTE_TYPE,
  compute_id: t.described(t.NOT_EMPTY, 'Unique in the workspace.'),
  compute_config: COMPUTE_CONFIG,
  version: t.OPT_STRING,
})

export const PATCH_LISTENER = t.titled('ListenerPatchRequest', {
  version: t.OPT_STRING,
  compute_config: z.nullish(COMPUTE_CONFIG),
})
