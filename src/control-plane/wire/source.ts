import * as z from 'zod/mini'
import { described, OPT_FLAG, OPT_STRING, OPT_UUID, PASSWORD, STRING, STRINGS, titled } from './common.ts'
import { RESOURCE_SPEC } from './resource-spec.ts'

export const SOURCE = /* @__PURE__ */ z.enum([
  'github',
  'external_docker',
  'internal_docker',
  'internal_source',
  'internal_template',
])

const DEPLOYMENT_TYPE = /* @__PURE__ */ z.enum([
  'dev_free',
  'dev',
  'prod',
  'dev_zero',
  'dev_free_zero',
  'serverless',
])

/** The part of `source_config` that a revision can be made with. */
export const REVISION_SOURCE_CONFIG = /* @__PURE__ */ titled('RevisionSourceConfig', {
  resource_spec: z.nullish(RESOURCE_SPEC),
  install_command: OPT_STRING,
  build_command: OPT_STRING,
})

export const SOURCE_CONFIG = /* @__PURE__ */ titled('SourceConfig', {
  integration_id: OPT_UUID,
  repo_url: OPT_STRING,
  deployment_type: z.nullish(DEPLOYMENT_TYPE),
  build_on_push: OPT_FLAG,
  custom_url: z.nullish(
    described(
      // Clients make a link of it.
      STRING.check(z.regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[!-~]+$/)),
      'An address of http: or https:. Default: where the active revision runs.',
    ),
  ),
  resource_spec: z.nullish(RESOURCE_SPEC),
  listener_id: OPT_UUID,
  listener_config: z.nullish(titled('DeploymentListenerConfig', { k8s_namespace: OPT_STRING })),
  install_command: OPT_STRING,
  build_command: OPT_STRING,
  template_id: OPT_STRING,
})

export const TRACKED_PACKAGES = /* @__PURE__ */ z.nullish(described(STRINGS, 'Each is `package:version`.'))

export const SOURCE_REVISION_CONFIG = /* @__PURE__ */ titled('SourceRevisionConfig', {
  repo_ref: z.nullish(described(STRING, 'A branch, or a tag as `refs/tags/…`.')),
  langgraph_config_path: OPT_STRING,
  image_uri: OPT_STRING,
  source_tarball_path: z.nullish(described(STRING, 'The `object_path` that `upload-url` has answered.')),
  tracked_packages: TRACKED_PACKAGES,
})

/** As it is answered: with the commit that `repo_ref` named. */
export const SOURCE_REVISION_CONFIG_RESPONSE = /* @__PURE__ */ titled('SourceRevisionConfigResponse', {
  repo_ref: OPT_STRING,
  langgraph_config_path: OPT_STRING,
  image_uri: OPT_STRING,
  source_tarball_path: OPT_STRING,
  repo_commit_sha: OPT_STRING,
  tracked_packages: TRACKED_PACKAGES,
})

// The format keeps the value out of the problems of a 422.
export const SECRETS = /* @__PURE__ */ z.array(titled('Secret', { name: STRING, value: PASSWORD }))
export const SECRET_REFERENCES = /* @__PURE__ */ z.array(
  titled('SecretReference', { name: STRING, secret_name: STRING, secret_key: STRING }),
)

/** What a deployment and a revision of it can be changed by. */
export const REVISION_CHANGE = {
  source_revision_config: /* @__PURE__ */ z.nullish(SOURCE_REVISION_CONFIG),
  secrets: /* @__PURE__ */ z.nullish(SECRETS),
  secret_references: /* @__PURE__ */ z.nullish(SECRET_REFERENCES),
} as const
