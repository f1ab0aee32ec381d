import type { FaceRoute } from '../../requests/routes.ts'
import type { PlatformContext } from '../context.ts'
import { deleteCron, patchCron, postCron } from './endpoints.ts'
import { getCronCount, searchCrons } from './search.ts'

/** Runs that are started again and again, by a schedule. */
export const CRON_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  // The body names the assistant, for which two permissions are needed.
  ['POST', '/runs/crons', null, postCron],
  ['POST', '/threads/:thread_id/runs/crons', null, postCron],
  ['PATCH', '/runs/crons/:cron_id', 'crons:update', patchCron],
  ['DELETE', '/runs/crons/:cron_id', 'crons:delete', deleteCron],
  ['POST', '/runs/crons/search', 'crons:search', searchCrons],
  ['POST', '/runs/crons/count', 'crons:search', getCronCount],
]
