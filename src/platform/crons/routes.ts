import { type FaceRoute, onDemand } from '../../requests/routes.ts'
import type { PlatformContext } from '../context.ts'

const room = () => import('./crons-room.ts')

const postCron = /* @__PURE__ */ onDemand<PlatformContext>(async () => (await room()).postCron)

/** Runs that are started again and again, by a schedule. */
export const CRON_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  // The body names the assistant, for which two permissions are needed.
  ['POST', '/runs/crons', null, postCron],
  ['POST', '/threads/:thread_id/runs/crons', null, postCron],
  [
    'PATCH',
    '/runs/crons/:cron_id',
    'crons:update',
    /* @__PURE__ */ onDemand(async () => (await room()).patchCron),
  ],
  [
    'DELETE',
    '/runs/crons/:cron_id',
    'crons:delete',
    /* @__PURE__ */ onDemand(async () => (await room()).deleteCron),
  ],
  [
    'POST',
    '/runs/crons/search',
    'crons:search',
    /* @__PURE__ */ onDemand(async () => (await room()).searchCrons),
  ],
  [
    'POST',
    '/runs/crons/count',
    'crons:search',
    /* @__PURE__ */ onDemand(async () => (await room()).getCronCount),
  ],
]
