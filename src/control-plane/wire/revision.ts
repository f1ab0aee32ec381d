import * as z from 'zod/mini'
import { REVISION_STATUSES } from '../records/records.ts'
import {
  BOOLEAN,
  described,
  INTEGER,
  NULL_STRING,
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
  REVISION_SOURCE_CONFIG,
  SOURCE,
  SOURCE_REVISION_CONFIG_RESPONSE,
  TRACKED_PACKAGES,
} from './source.ts'

const STATUS_CHANGE = /* @__PURE__ */ titled('StatusChange', {
  status: STRING,
  at: TIME,
  reason: NULL_STRING,
})

export const REVISION = /* @__PURE__ */ titled('Revision', {
  id: UUID,
  created_at: TIME,
  updated_at: TIME,
  status: z.enum(REVISION_STATUSES),
  source: SOURCE,
  source_revision_config: SOURCE_REVISION_CONFIG_RESPONSE,
  deployment_id: z.optional(UUID),
  revision_number: z.optional(described(INTEGER, '1 for the first of its deployment.')),
  status_message: z.nullish(described(STRING, 'Why it has its status, where there is a reason to tell.')),
  status_history: z.optional(described(z.array(STATUS_CHANGE), 'Oldest first.')),
})

export const REVISION_PAGE = /* @__PURE__ */ pageOf('RevisionsList', REVISION)

export const LIST_REVISIONS = /* @__PURE__ */ z.object({
  ...PAGE_QUERY,
  status: textQuery('Statuses, separated by commas.'),
  remote_reconciled: z.optional(described(BOOLEAN, 'Accepted, and without effect.')),
})

export const CREATE_REVISION = /* @__PURE__ */ titled('RevisionCreateRequest', {
  source_config: z.nullish(REVISION_SOURCE_CONFIG),
  ...REVISION_CHANGE,
  tracked_packages: TRACKED_PACKAGES,
})
