import { REVISION_STATUSES } from '../records/records.ts'
import { type Infer, nullable } from '../schema/json-schema.ts'
import { LIMIT, NULLABLE_STRING, OFFSET, STRING, TIME, UUID } from './common.ts'
import {
  NULLABLE_SECRET_REFERENCES,
  NULLABLE_SECRETS,
  NULLABLE_TRACKED_PACKAGES,
  REVISION_SOURCE_CONFIG,
  SOURCE,
  SOURCE_REVISION_CONFIG,
  SOURCE_REVISION_CONFIG_RESPONSE,
} from './source.ts'

export const REVISION_STATUS = { type: 'string', enum: REVISION_STATUSES } as const

const STATUS_CHANGE = {
  title: 'StatusChange',
  type: 'object',
  properties: { status: STRING, at: TIME, reason: NULLABLE_STRING },
  required: ['status', 'at', 'reason'],
} as const

export const REVISION = {
  title: 'Revision',
  type: 'object',
  properties: {
    id: UUID,
    created_at: TIME,
    updated_at: TIME,
    status: REVISION_STATUS,
    source: SOURCE,
    source_revision_config: SOURCE_REVISION_CONFIG_RESPONSE,
    deployment_id: UUID,
    revision_number: { type: 'integer', description: '1 for the first of its deployment.' },
    status_message: /* @__PURE__ */ nullable({
      type: 'string',
      description: 'Why it has its status, where there is a reason to tell.',
    }),
    status_history: { type: 'array', items: STATUS_CHANGE, description: 'Oldest first.' },
  },
  required: ['id', 'created_at', 'updated_at', 'status', 'source', 'source_revision_config'],
} as const
export type RevisionBody = Infer<typeof REVISION>

export const REVISION_PAGE = {
  title: 'RevisionsList',
  type: 'object',
  properties: { resources: { type: 'array', items: REVISION }, offset: { type: 'integer' } },
  required: ['resources', 'offset'],
} as const

export const LIST_REVISIONS = {
  properties: {
    limit: LIMIT,
    offset: OFFSET,
    status: { type: 'string', description: 'Statuses, separated by commas.' },
    remote_reconciled: { type: 'boolean', description: 'Accepted, and without effect.' },
  },
} as const

export const CREATE_REVISION = {
  title: 'RevisionCreateRequest',
  type: 'object',
  properties: {
    source_config: /* @__PURE__ */ nullable(REVISION_SOURCE_CONFIG),
    source_revision_config: /* @__PURE__ */ nullable(SOURCE_REVISION_CONFIG),
    secrets: NULLABLE_SECRETS,
    secret_references: NULLABLE_SECRET_REFERENCES,
    tracked_packages: NULLABLE_TRACKED_PACKAGES,
  },
} as const
