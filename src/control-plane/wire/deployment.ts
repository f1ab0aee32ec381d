import * as z from 'zod/mini'
import { DEPLOYMENT_STATUSES, REVISION_STATUSES } from '../records/records.ts'
import * as t from './common.ts'
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

const AGENT = t.titled('DeploymentAgent', {
  agent_id: t.NOT_EMPTY,
  environment: z.enum(['development', 'staging', 'production']),
})

export const TIER = z.nullish(
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
