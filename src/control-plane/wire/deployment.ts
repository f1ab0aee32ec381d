import { DEPLOYMENT_STATUSES } from '../records/records.ts'
import { type Infer, nullable } from '../schema/json-schema.ts'
import { LIMIT, NULLABLE_STRING, NULLABLE_UUID, OFFSET, STRING, TIME, UUID } from './common.ts'
import {
  NULLABLE_SECRET_REFERENCES,
  NULLABLE_SECRETS,
  NULLABLE_TRACKED_PACKAGES,
  SECRET,
  SECRET_REFERENCE,
  SOURCE,
  SOURCE_CONFIG,
  SOURCE_REVISION_CONFIG,
  SOURCE_REVISION_CONFIG_RESPONSE,
} from './source.ts'

export const DEPLOYMENTS_TAG = 'Deployments (v2)'

export const DEPLOYMENT_STATUS = { type: 'string', enum: DEPLOYMENT_STATUSES } as const

const AGENT = {
  title: 'DeploymentAgent',
  type: 'object',
  properties: {
    agent_id: { type: 'string', minLength: 1 },
    environment: { type: 'string', enum: ['development', 'staging', 'production'] },
  },
  required: ['agent_id', 'environment'],
} as const

const TIER = {
  type: 'string',
  enum: ['SERVERLESS_S', 'SERVERLESS_M', 'SERVERLESS_L', 'DEDICATED_S', 'DEDICATED_M', 'DEDICATED_L'],
} as const
const NULLABLE_TIER = /* @__PURE__ */ nullable(TIER)

export const DEPLOYMENT = {
  title: 'Deployment',
  type: 'object',
  properties: {
    name: STRING,
    source: SOURCE,
    source_config: SOURCE_CONFIG,
    source_revision_config: SOURCE_REVISION_CONFIG_RESPONSE,
    secrets: { type: 'array', items: SECRET },
    secret_references: { type: 'array', items: SECRET_REFERENCE },
    id: UUID,
    tenant_id: UUID,
    created_at: TIME,
    updated_at: TIME,
    status: DEPLOYMENT_STATUS,
    latest_revision_id: NULLABLE_UUID,
    active_revision_id: NULLABLE_UUID,
    image_version: NULLABLE_STRING,
    display_name: NULLABLE_STRING,
    agent: /* @__PURE__ */ nullable(AGENT),
    url: NULLABLE_STRING,
    tracer_session_id: UUID,
    compute_tier: NULLABLE_TIER,
    database_tier: NULLABLE_TIER,
    deployment_tier: NULLABLE_STRING,
  },
  required: [
    'name',
    'source',
    'source_config',
    'source_revision_config',
    'secrets',
    'id',
    'tenant_id',
    'created_at',
    'updated_at',
    'status',
    'latest_revision_id',
    'active_revision_id',
  ],
} as const

export const DEPLOYMENT_PAGE = {
  title: 'DeploymentsList',
  type: 'object',
  properties: { resources: { type: 'array', items: DEPLOYMENT }, offset: { type: 'integer' } },
  required: ['resources', 'offset'],
} as const

export const LIST_DEPLOYMENTS = {
  properties: {
    limit: LIMIT,
    offset: OFFSET,
    name_contains: STRING,
    name: { type: 'string', description: 'The whole name.' },
    status: STRING,
    remote_reconciled: {
      type: 'boolean',
      description: 'Accepted, and without effect: this server reconciles all deployments itself.',
    },
    tag_value_ids: { type: 'string', description: 'Separated by commas.' },
    image_version: STRING,
    deployment_type: { type: 'string', enum: ['dev_free', 'dev', 'prod'] },
    deployment_ids: { type: 'string', description: 'Separated by commas.' },
    agent_id: STRING,
    agent_environment: STRING,
  },
} as const

export const CREATE_DEPLOYMENT = {
  title: 'DeploymentCreateRequest',
  type: 'object',
  properties: {
    name: /* @__PURE__ */ nullable({
      type: 'string',
      description: 'Letters, digits and dashes; it starts with a letter. An `agent` can replace it.',
    }),
    agent: /* @__PURE__ */ nullable(AGENT),
    source: SOURCE,
    source_config: SOURCE_CONFIG,
    source_revision_config: SOURCE_REVISION_CONFIG,
    secrets: NULLABLE_SECRETS,
    secret_references: NULLABLE_SECRET_REFERENCES,
  },
  required: ['source', 'source_config', 'source_revision_config'],
  requiredWithout: { name: 'agent' },
} as const
export type CreateBody = Infer<typeof CREATE_DEPLOYMENT>

export const PATCH_DEPLOYMENT = {
  title: 'DeploymentPatchRequest',
  type: 'object',
  properties: {
    revision_source: /* @__PURE__ */ nullable({
      type: 'string',
      enum: ['github', 'internal_docker', 'internal_source'],
      description: 'The source of this revision, where it is not that of the deployment.',
    }),
    source_config: /* @__PURE__ */ nullable(SOURCE_CONFIG),
    source_revision_config: /* @__PURE__ */ nullable(SOURCE_REVISION_CONFIG),
    secrets: NULLABLE_SECRETS,
    secret_references: NULLABLE_SECRET_REFERENCES,
    display_name: /* @__PURE__ */ nullable({ type: 'string', minLength: 1 }),
    tracked_packages: NULLABLE_TRACKED_PACKAGES,
  },
} as const

export const RESOURCE_TIERS = {
  title: 'ResourceTiersPatchRequest',
  type: 'object',
  properties: { compute_tier: NULLABLE_TIER, database_tier: NULLABLE_TIER },
} as const

export const DEPLOYMENT_TIER = {
  title: 'DeploymentTierPatchRequest',
  type: 'object',
  properties: { deployment_tier: { type: 'string', minLength: 1, maxLength: 64 } },
  required: ['deployment_tier'],
} as const

const DELETE_TRACING_PROJECT = {
  type: 'boolean',
  default: false,
  description: 'Accepted, and without effect: there is no tracing project beside a deployment here.',
} as const

export const DELETE_DEPLOYMENT = { properties: { delete_tracing_project: DELETE_TRACING_PROJECT } } as const

export const BULK_DELETE = {
  properties: {
    deployment_ids: { type: 'array', items: UUID, minItems: 1, maxItems: 100 },
    delete_tracing_project: DELETE_TRACING_PROJECT,
  },
  required: ['deployment_ids'],
} as const

export const BULK_DELETED = {
  title: 'DeploymentsDeleted',
  type: 'object',
  properties: {
    deleted: { type: 'array', items: UUID },
    failed: {
      type: 'array',
      items: {
        title: 'DeploymentNotDeleted',
        type: 'object',
        properties: { deployment_id: UUID, detail: STRING },
        required: ['deployment_id', 'detail'],
      },
    },
  },
  required: ['deleted', 'failed'],
} as const

export const FREE_COUNT = {
  title: 'FreeDeploymentsCount',
  type: 'object',
  properties: { count: { type: 'integer' } },
  required: ['count'],
} as const

export const PUSH_TOKEN = {
  title: 'PushToken',
  type: 'object',
  properties: { token: STRING, registry_url: STRING },
  required: ['token', 'registry_url'],
} as const

export const UPLOAD_URL = {
  title: 'UploadUrl',
  type: 'object',
  properties: { upload_url: STRING, object_path: STRING },
  required: ['upload_url', 'object_path'],
} as const

export const UPLOAD_PATH = {
  properties: { deployment_id: UUID, upload_id: UUID },
} as const

export const UPLOAD = {
  properties: { expires: { type: 'integer', minimum: 0 }, signature: STRING },
  required: ['expires', 'signature'],
} as const
