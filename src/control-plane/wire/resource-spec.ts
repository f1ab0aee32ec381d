import { nullable } from '../schema/json-schema.ts'
import { NULLABLE_STRING, STRING } from './common.ts'

const COUNT = /* @__PURE__ */ nullable({ type: 'integer', minimum: 0 })
const CPU = /* @__PURE__ */ nullable({
  type: 'number',
  minimum: 0.1,
  maximum: 8,
  description: 'With one decimal.',
})
const CPU_LIMIT = /* @__PURE__ */ nullable({
  type: 'number',
  minimum: 0.1,
  maximum: 16,
  description: 'With one decimal. Default: twice the request.',
})
const STRING_MAP = /* @__PURE__ */ nullable({ type: 'object', additionalProperties: STRING })
/** Objects of Kubernetes, as it spells them. */
const KUBERNETES = /* @__PURE__ */ nullable({
  type: 'array',
  items: { type: 'object', additionalProperties: true },
})

/** What a deployment's servers are given. Which of it is kept is up to the deployer. */
export const RESOURCE_SPEC = {
  title: 'ResourceSpec',
  type: 'object',
  properties: {
    min_scale: COUNT,
    max_scale: COUNT,
    cpu: CPU,
    cpu_limit: CPU_LIMIT,
    memory_mb: COUNT,
    memory_limit_mb: COUNT,
    queue_min_scale: COUNT,
    queue_max_scale: COUNT,
    queue_cpu: CPU,
    queue_cpu_limit: CPU_LIMIT,
    queue_memory_mb: COUNT,
    queue_memory_limit_mb: COUNT,
    redis_cpu: CPU,
    redis_cpu_limit: CPU_LIMIT,
    redis_memory_mb: COUNT,
    redis_memory_limit_mb: COUNT,
    db_cpu: CPU,
    db_cpu_limit: CPU_LIMIT,
    db_memory_mb: COUNT,
    db_memory_limit_mb: COUNT,
    db_storage_gi: COUNT,
    db_max_connections: COUNT,
    labels: STRING_MAP,
    annotations: STRING_MAP,
    service_account_name: NULLABLE_STRING,
    image_pull_secrets: /* @__PURE__ */ nullable({
      type: 'array',
      items: { title: 'ImagePullSecret', type: 'object', properties: { name: STRING }, required: ['name'] },
    }),
    volumes: KUBERNETES,
    volume_mounts: KUBERNETES,
    init_containers: KUBERNETES,
    sidecars: KUBERNETES,
  },
} as const
