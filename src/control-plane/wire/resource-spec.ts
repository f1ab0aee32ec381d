import * as z from 'zod/mini'
import * as t from './common.ts'

const COUNT = z.nullish(t.INTEGER)
const STRING_MAP = z.nullish(t.mapOf(t.STRING))

const cpu = (max: number, description: string) =>
  z.nullish(t.described(t.number({ minimum: 0.1, maximum: max }), description))
const CPU = cpu(8, 'With one decimal.')
const CPU_LIMIT = cpu(16, 'With one decimal. Default: twice the request.')

/** A part of a Kubernetes object that Kubernetes validates itself. */
const PART = z.nullish(t.JSON_OBJECT)

/** A Kubernetes object. Undeclared members are kept, because the deployer has to see them to reject them. */
const kubernetes = <Shape extends z.core.$ZodLooseShape>(title: string, shape: Shape) =>
  t.noted(z.catchall(z.object(shape), t.JSON_VALUE), { title })

const VOLUME = kubernetes('Volume', {
  name: z.optional(t.STRING),
  configMap: PART,
  secret: PART,
  emptyDir: PART,
  persistentVolumeClaim: PART,
  nfs: PART,
  projected: PART,
  downwardAPI: PART,
  csi: PART,
})

const VOLUME_MOUNT = kubernetes('VolumeMount', {
  name: z.optional(t.STRING),
  mountPath: z.optional(t.STRING),
  subPath: t.OPT_STRING,
  mountPropagation: t.OPT_STRING,
  readOnly: t.OPT_FLAG,
  subPathExpr: t.OPT_STRING,
})
const VOLUME_MOUNTS = z.nullish(t.list(VOLUME_MOUNT))

const ENV_VAR = kubernetes('EnvVar', { name: t.STRING, value: t.OPT_STRING, valueFrom: PART })

const CONTAINER = kubernetes('Container', {
  name: t.STRING,
  image: t.STRING,
  imagePullPolicy: t.OPT_STRING,
  command: t.OPT_STRINGS,
  args: t.OPT_STRINGS,
  workingDir: t.OPT_STRING,
  env: z.nullish(t.list(ENV_VAR)),
  envFrom: z.nullish(t.list(t.JSON_OBJECT)),
  resources: z.nullish(kubernetes('ResourceRequirements', { limits: STRING_MAP, requests: STRING_MAP })),
  volumeMounts: VOLUME_MOUNTS,
  securityContext: PART,
  restartPolicy: t.OPT_STRING,
})
const CONTAINERS = z.nullish(t.list(CONTAINER))

/** The resources of a deployment's servers. The deployer decides which of them it supports. */
export const RESOURCE_SPEC = t.titled('ResourceSpec', {
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
  service_account_name: t.OPT_STRING,
  image_pull_secrets: z.nullish(t.list(t.titled('ImagePullSecret', { name: t.STRING }))),
  volumes: z.nullish(t.list(VOLUME)),
  volume_mounts: VOLUME_MOUNTS,
  init_containers: CONTAINERS,
  sidecars: CONTAINERS,
})
