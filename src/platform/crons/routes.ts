import type { FaceRoute } from '../../requests/routes.ts'
import type { PlatformContext } from '../context.ts'

type CronRoute = FaceRoute<PlatformContext>

/** An endpoint that is loaded with the first request for it. */
const onDemand =
  (name: 'deleteCron' | 'getCronCount' | 'patchCron' | 'postCron' | 'searchCrons'): CronRoute[3] =>
  async (context, call) =>
    (await import('./on-demand.ts'))[name](context, call)

/** Runs that are started again and again, by a schedule. */
export const CRON_ROUTES: readonly CronRoute[] = [
  // The body names the assistant, for which two permissions are needed.
  ['POST', '/runs/crons', null, /* @__PURE__ */ onDemand('postCron')],
  ['POST', '/threads/:thread_id/runs/crons', null, /* @__PURE__ */ onDemand('postCron')],
  ['PATCH', '/runs/crons/:cron_id', 'crons:update', /* @__PURE__ */ onDemand('patchCron')],
  ['DELETE', '/runs/crons/:cron_id', 'crons:delete', /* @__PURE__ */ onDemand('deleteCron')],
  ['POST', '/runs/crons/search', 'crons:search', /* @__PURE__ */ onDemand('searchCrons')],
  ['POST', '/runs/crons/count', 'crons:search', /* @__PURE__ */ onDemand('getCronCount')],
]
