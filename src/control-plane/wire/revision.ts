import * as z from 'zod/mini'
import { REVISION_STATUSES } from '../records/records.ts'
import * as t from './common.ts'
import {
  REVISION_CHANGE,
  REVISION_SOURCE_CONFIG,
  SOURCE,
  SOURCE_REVISION_CONFIG_RESPONSE,
  TRACKED_PACKAGES,
} from './source.ts'

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
