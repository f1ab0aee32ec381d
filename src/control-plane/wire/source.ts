import { nullable } from '../schema/json-schema.ts'
import { NULLABLE_STRING, NULLABLE_UUID, STRING } from './common.ts'
import { RESOURCE_SPEC } from './resource-spec.ts'

export const SOURCE = {
  type: 'string',
  enum: ['github', 'external_docker', 'internal_docker', 'internal_source', 'internal_template'],
} as const

export const DEPLOYMENT_TYPE = {
  type: 'string',
  enum: ['dev_free', 'dev', 'prod', 'dev_zero', 'dev_free_zero', 'serverless'],
} as const

const NULLABLE_FLAG = /* @__PURE__ */ nullable({ type: 'boolean' })

export const LISTENER_CONFIG = {
  title: 'DeploymentListenerConfig',
  type: 'object',
  properties: { k8s_namespace: NULLABLE_STRING },
} as const

export const SOURCE_CONFIG = {
  title: 'SourceConfig',
  type: 'object',
  properties: {
    integration_id: NULLABLE_UUID,
    repo_url: NULLABLE_STRING,
    deployment_type: /* @__PURE__ */ nullable(DEPLOYMENT_TYPE),
    build_on_push: NULLABLE_FLAG,
    custom_url: /* @__PURE__ */ nullable({
      type: 'string',
      // Clients make a link of it.
      pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$',
      description: 'An address of http: or https:. Default: where the active revision runs.',
    }),
    resource_spec: /* @__PURE__ */ nullable(RESOURCE_SPEC),
    listener_id: NULLABLE_UUID,
    listener_config: /* @__PURE__ */ nullable(LISTENER_CONFIG),
    install_command: NULLABLE_STRING,
    build_command: NULLABLE_STRING,
    template_id: NULLABLE_STRING,
  },
} as const

/** The part of `source_config` that a revision can be made with. */
export const REVISION_SOURCE_CONFIG = {
  title: 'RevisionSourceConfig',
  type: 'object',
  properties: {
    resource_spec: /* @__PURE__ */ nullable(RESOURCE_SPEC),
    install_command: NULLABLE_STRING,
    build_command: NULLABLE_STRING,
  },
} as const

const TRACKED_PACKAGES = /* @__PURE__ */ nullable({
  type: 'array',
  items: STRING,
  description: 'Each is `package:version`.',
})

export const SOURCE_REVISION_CONFIG = {
  title: 'SourceRevisionConfig',
  type: 'object',
  properties: {
    repo_ref: /* @__PURE__ */ nullable({
      type: 'string',
      description: 'A branch, or a tag as `refs/tags/…`.',
    }),
    langgraph_config_path: NULLABLE_STRING,
    image_uri: NULLABLE_STRING,
    source_tarball_path: /* @__PURE__ */ nullable({
      type: 'string',
      description: 'The `object_path` that `upload-url` has answered.',
    }),
    tracked_packages: TRACKED_PACKAGES,
  },
} as const

/** As it is answered: with the commit that `repo_ref` named. */
export const SOURCE_REVISION_CONFIG_RESPONSE = {
  title: 'SourceRevisionConfigResponse',
  type: 'object',
  properties: {
    repo_ref: NULLABLE_STRING,
    langgraph_config_path: NULLABLE_STRING,
    image_uri: NULLABLE_STRING,
    source_tarball_path: NULLABLE_STRING,
    repo_commit_sha: NULLABLE_STRING,
    tracked_packages: TRACKED_PACKAGES,
  },
} as const

export const SECRET = {
  title: 'Secret',
  type: 'object',
  // The format keeps the value out of the problems of a 422.
  properties: { name: STRING, value: { type: 'string', format: 'password' } },
  required: ['name', 'value'],
} as const

export const SECRET_REFERENCE = {
  title: 'SecretReference',
  type: 'object',
  properties: { name: STRING, secret_name: STRING, secret_key: STRING },
  required: ['name', 'secret_name', 'secret_key'],
} as const

export const NULLABLE_SECRETS = /* @__PURE__ */ nullable({ type: 'array', items: SECRET })
export const NULLABLE_SECRET_REFERENCES = /* @__PURE__ */ nullable({ type: 'array', items: SECRET_REFERENCE })
export const NULLABLE_TRACKED_PACKAGES = TRACKED_PACKAGES
