import * as z from 'zod/mini'
import { DEPLOYMENT_STATUSES } from '../records/records.ts'
import { noted } from '../schema/json-schema.ts'
import {
  BOOLEAN,
  described,
  INTEGER,
  NOT_EMPTY,
  NULL_UUID,
  OPT_STRING,
  PAGE_QUERY,
  pageOf,
  STRING,
  TIME,
  textQuery,
  titled,
  UUID,
} from './common.ts'
import {
  REVISION_CHANGE,
  SECRET_REFERENCES,
  SECRETS,
  SOURCE,
  SOURCE_CONFIG,
  SOURCE_REVISION_CONFIG,
  SOURCE_REVISION_CONFIG_RESPONSE,
  TRACKED_PACKAGES,
} from './source.ts'

export const DEPLOYMENTS_TAG = 'Deployments (v2)'

const AGENT = /* @__PURE__ */ titled('DeploymentAgent', {
  agent_id: NOT_EMPTY,
  environment: z.enum(['development', 'staging', 'production']),
})

const TIER = /* @__PURE__ */ z.nullish(
  z.enum(['SERVERLESS_S', 'SERVERLESS_M', 'SERVERLESS_L', 'DEDICATED_S', 'DEDICATED_M', 'DEDICATED_L']),
)

export const DEPLOYMENT = /* @__PURE__ */ titled('Deployment', {
  name: STRING,
  source: SOURCE,
  source_config: SOURCE_CONFIG,
  source_revision_config: SOURCE_REVISION_CONFIG_RESPONSE,
  secrets: SECRETS,
  secret_references: z.optional(SECRET_REFERENCES),
  id: UUID,
  tenant_id: UUID,
  created_at: TIME,
  updated_at: TIME,
  status: z.enum(DEPLOYMENT_STATUSES),
  latest_revision_id: NULL_UUID,
  active_revision_id: NULL_UUID,
  image_version: OPT_STRING,
  display_name: OPT_STRING,
  agent: z.nullish(AGENT),
  url: OPT_STRING,
  tracer_session_id: z.optional(UUID),
  compute_tier: TIER,
  database_tier: TIER,
  deployment_tier: OPT_STRING,
})

export const DEPLOYMENT_PAGE = /* @__PURE__ */ pageOf('DeploymentsList', DEPLOYMENT)

export const LIST_DEPLOYMENTS = /* @__PURE__ */ z.object({
  ...PAGE_QUERY,
  name_contains: z.optional(STRING),
  name: textQuery('The whole name.'),
  status: z.optional(STRING),
  remote_reconciled: z.optional(
    described(BOOLEAN, 'Accepted, and without effect: this server reconciles all deployments itself.'),
  ),
  tag_value_ids: textQuery('Separated by commas.'),
  image_version: z.optional(STRING),
  deployment_type: z.optional(z.enum(['dev_free', 'dev', 'prod'])),
  deployment_ids: textQuery('Separated by commas.'),
  agent_id: z.optional(STRING),
  agent_environment: z.optional(STRING),
})

export const CREATE_DEPLOYMENT = /* @__PURE__ */ noted(
  titled('DeploymentCreateRequest', {
    name: z.nullish(
      described(STRING, 'Letters, digits and dashes; it starts with a letter. An `agent` can replace it.'),
    ),
    agent: z.nullish(AGENT),
    source: SOURCE,
    source_config: SOURCE_CONFIG,
    source_revision_config: SOURCE_REVISION_CONFIG,
    secrets: z.nullish(SECRETS),
    secret_references: z.nullish(SECRET_REFERENCES),
  }),
  { requiredWithout: { name: 'agent' } },
)
export type CreateBody = z.output<typeof CREATE_DEPLOYMENT>

export const PATCH_DEPLOYMENT = /* @__PURE__ */ titled('DeploymentPatchRequest', {
  revision_source: z.nullish(
    described(
      z.enum(['github', 'internal_docker', 'internal_source']),
      'The source of this revision, where it is not that of the deployment.',
    ),
  ),
  source_config: z.nullish(SOURCE_CONFIG),
  ...REVISION_CHANGE,
  display_name: z.nullish(NOT_EMPTY),
  tracked_packages: TRACKED_PACKAGES,
})

export const RESOURCE_TIERS = /* @__PURE__ */ titled('ResourceTiersPatchRequest', {
  compute_tier: TIER,
  database_tier: TIER,
})

export const DEPLOYMENT_TIER = /* @__PURE__ */ titled('DeploymentTierPatchRequest', {
  deployment_tier: STRING.check(z.minLength(1), z.maxLength(64)),
})

const DELETE_TRACING_PROJECT = /* @__PURE__ */ described(
  z._default(BOOLEAN, false),
  'Accepted, and without effect: deployments have no tracing project here.',
)

export const DELETE_DEPLOYMENT = /* @__PURE__ */ z.object({ delete_tracing_project: DELETE_TRACING_PROJECT })

export const BULK_DELETE = /* @__PURE__ */ z.object({
  deployment_ids: z.array(UUID).check(z.minLength(1), z.maxLength(100)),
  delete_tracing_project: DELETE_TRACING_PROJECT,
})

export const BULK_DELETED = /* @__PURE__ */ titled('DeploymentsDeleted', {
  deleted: z.array(UUID),
  failed: z.array(titled('DeploymentNotDeleted', { deployment_id: UUID, detail: STRING })),
})

export const FREE_COUNT = /* @__PURE__ */ titled('FreeDeploymentsCount', { count: INTEGER })
export const PUSH_TOKEN = /* @__PURE__ */ titled('PushToken', { token: STRING, registry_url: STRING })
export const UPLOAD_URL = /* @__PURE__ */ titled('UploadUrl', { upload_url: STRING, object_path: STRING })
export const UPLOAD_PATH = /* @__PURE__ */ z.object({ deployment_id: UUID, upload_id: UUID })
export const UPLOAD = /* @__PURE__ */ z.object({ expires: z.int().check(z.gte(0)), signature: STRING })
