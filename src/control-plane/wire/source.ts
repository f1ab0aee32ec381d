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
const RESOURCE_SPEC = t.titled('ResourceSpec', {
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

export const SOURCE = z.enum([
  'github',
  'external_docker',
  'internal_docker',
  'internal_source',
  'internal_template',
])

const DEPLOYMENT_TYPE = z.enum(['dev_free', 'dev', 'prod', 'dev_zero', 'dev_free_zero', 'serverless'])

/** The part of `source_config` that a revision can be created with. */
export const REVISION_SOURCE_CONFIG = t.titled('RevisionSourceConfig', {
  resource_spec: z.nullish(RESOURCE_SPEC),
  install_command: t.OPT_STRING,
  build_command: t.OPT_STRING,
})

/** A literal, so that the tests look at it; JSON Schema does not escape slashes. */
const HTTP_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[!-~]+$/.source.replaceAll('\\/', '/')

export const SOURCE_CONFIG = t.titled('SourceConfig', {
  integration_id: t.OPT_UUID,
  repo_url: t.OPT_STRING,
  deployment_type: z.nullish(DEPLOYMENT_TYPE),
  build_on_push: t.OPT_FLAG,
  custom_url: z.nullish(
    t.described(
      // Clients make a link of it.
      t.text({ pattern: HTTP_URL }),
      'An address of http: or https:. Default: where the active revision runs.',
    ),
  ),
  resource_spec: z.nullish(RESOURCE_SPEC),
  listener_id: t.OPT_UUID,
  listener_config: z.nullish(t.titled('DeploymentListenerConfig', { k8s_namespace: t.OPT_STRING })),
  install_command: t.OPT_STRING,
  build_command: t.OPT_STRING,
  template_id: t.OPT_STRING,
})

export const TRACKED_PACKAGES = z.nullish(t.described(t.STRINGS, 'Each is `package:version`.'))

export const SOURCE_REVISION_CONFIG = t.titled('SourceRevisionConfig', {
  repo_ref: z.nullish(t.described(t.STRING, 'A branch, or a tag as `refs/tags/…`.')),
  langgraph_config_path: t.OPT_STRING,
  image_uri: t.OPT_STRING,
  source_tarball_path: z.nullish(t.described(t.STRING, 'The `object_path` that `upload-url` has answered.')),
  tracked_packages: TRACKED_PACKAGES,
})

/** As it is returned: with the commit that `repo_ref` resolved to. */
export const SOURCE_REVISION_CONFIG_RESPONSE = t.titled('SourceRevisionConfigResponse', {
  repo_ref: t.OPT_STRING,
  langgraph_config_path: t.OPT_STRING,
  image_uri: t.OPT_STRING,
  source_tarball_path: t.OPT_STRING,
  repo_commit_sha: t.OPT_STRING,
  tracked_packages: TRACKED_PACKAGES,
})

// The format keeps the value out of the problems of a 422.
export const SECRETS = t.list(t.titled('Secret', { name: t.STRING, value: t.PASSWORD }))
export const SECRET_REFERENCES = t.list(
  t.titled('SecretReference', { name: t.STRING, secret_name: t.STRING, secret_key: t.STRING }),
)

/** What can change in a deployment or a revision. */
export const REVISION_CHANGE = {
  source_revision_config: z.nullish(SOURCE_REVISION_CONFIG),
  secrets: z.nullish(SECRETS),
  secret_references: z.nullish(SECRET_REFERENCES),
} as const
