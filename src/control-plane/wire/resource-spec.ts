import { nullable } from '../schema/json-schema.ts'
import { NULLABLE_STRING, STRING } from './common.ts'

const COUNT = /* @__PURE__ */ nullable({ type: 'integer' })
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
/** A part of an object of Kubernetes that it checks itself. */
const PART = { type: 'object', additionalProperties: true } as const
const NULLABLE_PART = /* @__PURE__ */ nullable(PART)
const NULLABLE_STRINGS = /* @__PURE__ */ nullable({ type: 'array', items: STRING })

// Members of Kubernetes that are not declared here are kept: the deployer has to see them to refuse them.

const VOLUME = {
  title: 'Volume',
  type: 'object',
  properties: {
    name: STRING,
    configMap: NULLABLE_PART,
    secret: NULLABLE_PART,
    emptyDir: NULLABLE_PART,
    persistentVolumeClaim: NULLABLE_PART,
    nfs: NULLABLE_PART,
    projected: NULLABLE_PART,
    downwardAPI: NULLABLE_PART,
    csi: NULLABLE_PART,
  },
  additionalProperties: true,
} as const

const VOLUME_MOUNT = {
  title: 'VolumeMount',
  type: 'object',
  properties: {
    name: STRING,
    mountPath: STRING,
    subPath: NULLABLE_STRING,
    mountPropagation: NULLABLE_STRING,
    readOnly: /* @__PURE__ */ nullable({ type: 'boolean' }),
    subPathExpr: NULLABLE_STRING,
  },
  additionalProperties: true,
} as const

const VOLUME_MOUNTS = /* @__PURE__ */ nullable({ type: 'array', items: VOLUME_MOUNT })

const CONTAINER = {
  title: 'Container',
  type: 'object',
  properties: {
    name: STRING,
    image: STRING,
    imagePullPolicy: NULLABLE_STRING,
    command: NULLABLE_STRINGS,
    args: NULLABLE_STRINGS,
    workingDir: NULLABLE_STRING,
    env: /* @__PURE__ */ nullable({
      type: 'array',
      items: {
        title: 'EnvVar',
        type: 'object',
        properties: { name: STRING, value: NULLABLE_STRING, valueFrom: NULLABLE_PART },
        required: ['name'],
        additionalProperties: true,
      },
    }),
    envFrom: /* @__PURE__ */ nullable({ type: 'array', items: PART }),
    resources: /* @__PURE__ */ nullable({
      title: 'ResourceRequirements',
      type: 'object',
      properties: { limits: STRING_MAP, requests: STRING_MAP },
      additionalProperties: true,
    }),
    volumeMounts: VOLUME_MOUNTS,
    securityContext: NULLABLE_PART,
    restartPolicy: NULLABLE_STRING,
  },
  required: ['name', 'image'],
  additionalProperties: true,
} as const

const CONTAINERS = /* @__PURE__ */ nullable({ type: 'array', items: CONTAINER })

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
    volumes: /* @__PURE__ */ nullable({ type: 'array', items: VOLUME }),
    volume_mounts: VOLUME_MOUNTS,
    init_containers: CONTAINERS,
    sidecars: CONTAINERS,
  },
} as const
