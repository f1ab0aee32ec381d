import { type Infer, nullable } from '../schema/json-schema.ts'
import { LIMIT, NULLABLE_STRING, OFFSET, STRING, TIME, UUID } from './common.ts'

const COMPUTE_TYPE = { type: 'string', const: 'k8s' } as const

const COMPUTE_CONFIG = {
  title: 'ListenerComputeConfig',
  type: 'object',
  properties: { k8s_namespaces: /* @__PURE__ */ nullable({ type: 'array', items: STRING }) },
} as const

export const LISTENER_PATH = { properties: { listener_id: UUID } } as const

export const LISTENER = {
  title: 'Listener',
  type: 'object',
  properties: {
    id: UUID,
    version: NULLABLE_STRING,
    compute_type: COMPUTE_TYPE,
    compute_id: STRING,
    compute_config: COMPUTE_CONFIG,
    created_at: TIME,
    updated_at: TIME,
  },
  required: ['id', 'compute_type', 'compute_id', 'compute_config', 'created_at', 'updated_at'],
} as const
export type ListenerBody = Infer<typeof LISTENER>

export const LISTENER_PAGE = {
  title: 'ListenersList',
  type: 'object',
  properties: { resources: { type: 'array', items: LISTENER }, offset: { type: 'integer' } },
  required: ['resources', 'offset'],
} as const

export const LIST_LISTENERS = { properties: { limit: LIMIT, offset: OFFSET } } as const

export const CREATE_LISTENER = {
  title: 'ListenerCreateRequest',
  type: 'object',
  properties: {
    compute_type: COMPUTE_TYPE,
    compute_id: { type: 'string', minLength: 1, description: 'Unique in the workspace.' },
    compute_config: COMPUTE_CONFIG,
    version: NULLABLE_STRING,
  },
  required: ['compute_type', 'compute_id', 'compute_config'],
} as const

export const PATCH_LISTENER = {
  title: 'ListenerPatchRequest',
  type: 'object',
  properties: { version: NULLABLE_STRING, compute_config: /* @__PURE__ */ nullable(COMPUTE_CONFIG) },
} as const
