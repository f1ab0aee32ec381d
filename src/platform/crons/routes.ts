import { type FaceRoute, onDemand } from '../../face/routes.ts'
import type { PlatformContext } from '../context.ts'

const loadHandlers = () => import('./handlers.ts')

const postCron = /* @__PURE__ */ onDemand<PlatformContext>(async () => (await loadHandlers()).postCron)

/** Runs that are started again and again, by a schedule. */
export const CRON_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  // The body names the assistant, for which two permissions are needed.
  ['POST', '/runs/crons', null, postCron],
  ['POST', '/threads/:thread_id/runs/crons', null, postCron],
  [
    'PATCH',
    '/runs/crons/:cron_id',
    'crons:update',
    /* @__PURE__ */ onDemand(async () => (await loadHandlers()).patchCron),
  ],
  [
    'DELETE',
    '/runs/crons/:cron_id',
    'crons:delete',
    /* @__PURE__ */ onDemand(async () => (await loadHandlers()).deleteCron),
  ],
  [
    'POST',
    '/runs/crons/search',
    'crons:search',
    /* @__PURE__ */ onDemand(async () => (await loadHandlers()).searchCrons),
  ],
  [
    'POST',
    '/runs/crons/count',
    'crons:search',
    /* @__PURE__ */ onDemand(async () => (await loadHandlers()).getCronCount),
  ],
]
