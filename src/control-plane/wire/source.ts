import * as z from 'zod/mini'
import * as t from './common.ts'
import { RESOURCE_SPEC } from './resource-spec.ts'

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
