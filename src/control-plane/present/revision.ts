import type { RevisionRecord } from '../records/records.ts'
import { presentRevisionConfig } from './deployment.ts'
import { isoTime } from './time.ts'

/** A revision as the API answers it. */
export const presentRevision = (revision: RevisionRecord) => ({
  id: revision.id,
  deployment_id: revision.deploymentId,
  revision_number: revision.number,
  source: revision.source,
  source_revision_config: presentRevisionConfig(revision.sourceRevisionConfig),
  status: revision.status,
  status_message: revision.history.at(-1)?.reason ?? null,
  status_history: revision.history.map(({ status, at, reason }) => ({
    status,
    at: isoTime(at),
    reason: reason ?? null,
  })),
  created_at: isoTime(revision.createdAt),
  updated_at: isoTime(revision.updatedAt),
})
