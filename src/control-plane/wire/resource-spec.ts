import * as z from 'zod/mini'
import { noted } from '../schema/json-schema.ts'
import {
  described,
  INTEGER,
  JSON_OBJECT,
  JSON_VALUE,
  OPT_FLAG,
  OPT_STRING,
  OPT_STRINGS,
  STRING,
  titled,
} from './common.ts'

const COUNT = /* @__PURE__ */ z.nullish(INTEGER)
const STRING_MAP = /* @__PURE__ */ z.nullish(z.record(STRING, STRING))

/* @__NO_SIDE_EFFECTS__ */
const cpu = (max: number, description: string) =>
  z.nullish(described(z.number().check(z.gte(0.1), z.lte(max)), description))
const CPU = /* @__PURE__ */ cpu(8, 'With one decimal.')
const CPU_LIMIT = /* @__PURE__ */ cpu(16, 'With one decimal. Default: twice the request.')

/** A part of an object of Kubernetes that it checks itself. */
const PART = /* @__PURE__ */ z.nullish(JSON_OBJECT)

/**
 * An object of Kubernetes. Members that are not declared here are kept, because the deployer has to see them to refuse
 * them.
 */
/* @__NO_SIDE_EFFECTS__ */
const kubernetes = <Shape extends z.core.$ZodLooseShape>(title: string, shape: Shape) =>
  noted(z.catchall(z.object(shape), JSON_VALUE), { title })

const VOLUME = /* @__PURE__ */ kubernetes('Volume', {
  name: z.optional(STRING),
  configMap: PART,
  secret: PART,
  emptyDir: PART,
  persistentVolumeClaim: PART,
  nfs: PART,
  projected: PART,
  downwardAPI: PART,
  csi: PART,
})

const VOLUME_MOUNT = /* @__PURE__ */ kubernetes('VolumeMount', {
  name: z.optional(STRING),
  mountPath: z.optional(STRING),
  subPath: OPT_STRING,
  mountPropagation: OPT_STRING,
  readOnly: OPT_FLAG,
  subPathExpr: OPT_STRING,
})
const VOLUME_MOUNTS = /* @__PURE__ */ z.nullish(z.array(VOLUME_MOUNT))

const ENV_VAR = /* @__PURE__ */ kubernetes('EnvVar', { name: STRING, value: OPT_STRING, valueFrom: PART })

const CONTAINER = /* @__PURE__ */ kubernetes('Container', {
  name: STRING,
  image: STRING,
  imagePullPolicy: OPT_STRING,
  command: OPT_STRINGS,
  args: OPT_STRINGS,
  workingDir: OPT_STRING,
  env: z.nullish(z.array(ENV_VAR)),
  envFrom: z.nullish(z.array(JSON_OBJECT)),
  resources: z.nullish(kubernetes('ResourceRequirements', { limits: STRING_MAP, requests: STRING_MAP })),
  volumeMounts: VOLUME_MOUNTS,
  securityContext: PART,
  restartPolicy: OPT_STRING,
})
const CONTAINERS = /* @__PURE__ */ z.nullish(z.array(CONTAINER))

/** What a deployment's servers are given. Which of it is kept is up to the deployer. */
export const RESOURCE_SPEC = /* @__PURE__ */ titled('ResourceSpec', {
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
  service_account_name: OPT_STRING,
  image_pull_secrets: z.nullish(z.array(titled('ImagePullSecret', { name: STRING }))),
  volumes: z.nullish(z.array(VOLUME)),
  volume_mounts: VOLUME_MOUNTS,
  init_containers: CONTAINERS,
  sidecars: CONTAINERS,
})
