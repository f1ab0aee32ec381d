import * as z from 'zod/mini'
import { DEPLOYMENT_STATUSES, REVISION_STATUSES } from '../records/records.ts'
import * as t from './common.ts'
import {
  REVISION_CHANGE,
  REVISION_SOURCE_CONFIG,
  SECRET_REFERENCES,
  SECRETS,
  SOURCE,
  SOURCE_CONFIG,
  SOURCE_REVISION_CONFIG,
  SOURCE_REVISION_CONFIG_RESPONSE,
  TRACKED_PACKAGES,
} from './source.ts'

export const DEPLOYMENTS_TAG = 'Deployments (v2)'

const AGENT = t.titled('DeploymentAgent', {
  agent_id: t.NOT_EMPTY,
  environment: z.enum(['development', 'staging', 'production']),
})

const TIER = z.nullish(
  z.enum(['SERVERLESS_S', 'SERVERLESS_M', 'SERVERLESS_L', 'DEDICATED_S', 'DEDICATED_M', 'DEDICATED_L']),
)

export const DEPLOYMENT = t.titled('Deployment', {
  name: t.STRING,
  source: SOURCE,
  source_config: SOURCE_CONFIG,
  source_revision_config: SOURCE_REVISION_CONFIG_RESPONSE,
  secrets: SECRETS,
  secret_references: z.optional(SECRET_REFERENCES),
  id: t.UUID,
  tenant_id: t.UUID,
  created_at: t.TIME,
  updated_at: t.TIME,
  status: z.enum(DEPLOYMENT_STATUSES),
  latest_revision_id: t.NULL_UUID,
  active_revision_id: t.NULL_UUID,
  image_version: t.OPT_STRING,
  display_name: t.OPT_STRING,
  agent: z.nullish(AGENT),
  url: t.OPT_STRING,
  tracer_session_id: z.optional(t.UUID),
  compute_tier: TIER,
  database_tier: TIER,
  deployment_tier: t.OPT_STRING,
})

export const DEPLOYMENT_PAGE = t.pageOf('DeploymentsList', DEPLOYMENT)

export const LIST_DEPLOYMENTS = z.object({
  ...t.PAGE_QUERY,
  name_contains: z.optional(t.STRING),
  name: t.textQuery('The whole name.'),
  status: z.optional(t.STRING),
  remote_reconciled: z.optional(
    t.described(t.BOOLEAN, 'Accepted, and without effect: this server reconciles all deployments itself.'),
  ),
  tag_value_ids: t.textQuery('Separated by commas.'),
  image_version: z.optional(t.STRING),
  deployment_type: z.optional(z.enum(['dev_free', 'dev', 'prod'])),
  deployment_ids: t.textQuery('Separated by commas.'),
  agent_id: z.optional(t.STRING),
  agent_environment: z.optional(t.STRING),
})

export const CREATE_DEPLOYMENT = t.requiredWithout(
  t.titled('DeploymentCreateRequest', {
    name: z.nullish(
      t.described(
        t.STRING,
        'Letters, digits and dashes; it starts with a letter. An `agent` can replace it.',
      ),
    ),
    agent: z.nullish(AGENT),
    source: SOURCE,
    source_config: SOURCE_CONFIG,
    source_revision_config: SOURCE_REVISION_CONFIG,
    secrets: z.nullish(SECRETS),
    secret_references: z.nullish(SECRET_REFERENCES),
  }),
  'name',
  'agent',
)
export type CreateBody = z.output<typeof CREATE_DEPLOYMENT>

export const PATCH_DEPLOYMENT = t.titled('DeploymentPatchRequest', {
  revision_source: z.nullish(
    t.described(
      z.enum(['github', 'internal_docker', 'internal_source']),
      'The source of this revision, where it is not that of the deployment.',
    ),
  ),
  source_config: z.nullish(SOURCE_CONFIG),
  ...REVISION_CHANGE,
  display_name: z.nullish(t.NOT_EMPTY),
  tracked_packages: TRACKED_PACKAGES,
})
export type PatchBody = z.output<typeof PATCH_DEPLOYMENT>

export const RESOURCE_TIERS = t.titled('ResourceTiersPatchRequest', {
  compute_tier: TIER,
  database_tier: TIER,
})

export const DEPLOYMENT_TIER = t.titled('DeploymentTierPatchRequest', {
  deployment_tier: t.text({ minLength: 1, maxLength: 64 }),
})

const DELETE_TRACING_PROJECT = t.described(
  z._default(t.BOOLEAN, false),
  'Accepted, and without effect: deployments have no tracing project here.',
)

export const DELETE_DEPLOYMENT = z.object({ delete_tracing_project: DELETE_TRACING_PROJECT })

export const BULK_DELETE = z.object({
  deployment_ids: t.list(t.UUID, { minItems: 1, maxItems: 100 }),
  delete_tracing_project: DELETE_TRACING_PROJECT,
})

export const BULK_DELETED = t.titled('DeploymentsDeleted', {
  deleted: t.list(t.UUID),
  failed: t.list(t.titled('DeploymentNotDeleted', { deployment_id: t.UUID, detail: t.STRING })),
})

export const FREE_COUNT = t.titled('FreeDeploymentsCount', { count: t.INTEGER })
export const PUSH_TOKEN = t.titled('PushToken', { token: t.STRING, registry_url: t.STRING })
export const UPLOAD_URL = t.titled('UploadUrl', {
  upload_url: t.STRING,
  object_path: t.STRING,
})
export const UPLOAD_PATH = z.object({ deployment_id: t.UUID, upload_id: t.UUID })
export const UPLOAD = z.object({ expires: t.integer({ minimum: 0 }), signature: t.STRING })

const STATUS_CHANGE = t.titled('StatusChange', {
  status: t.STRING,
  at: t.TIME,
  reason: t.NULL_STRING,
})

export const REVISION = t.titled('Revision', {
  id: t.UUID,
  created_at: t.TIME,
  updated_at: t.TIME,
  status: z.enum(REVISION_STATUSES),
  source: SOURCE,
  source_revision_config: SOURCE_REVISION_CONFIG_RESPONSE,
  deployment_id: z.optional(t.UUID),
  revision_number: z.optional(t.described(t.INTEGER, '1 for the first of its deployment.')),
  status_message: z.nullish(t.described(t.STRING, 'Why it has its status, where there is a reason to tell.')),
  status_history: z.optional(t.described(t.list(STATUS_CHANGE), 'Oldest first.')),
})

export const REVISION_PAGE = t.pageOf('RevisionsList', REVISION)

export const LIST_REVISIONS = z.object({
  ...t.PAGE_QUERY,
  status: t.textQuery('Statuses, separated by commas.'),
  remote_reconciled: z.optional(t.described(t.BOOLEAN, 'Accepted, and without effect.')),
})

export const CREATE_REVISION = t.titled('RevisionCreateRequest', {
  source_config: z.nullish(REVISION_SOURCE_CONFIG),
  ...REVISION_CHANGE,
  tracked_packages: TRACKED_PACKAGES,
})
