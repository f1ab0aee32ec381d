import type { Call } from '../../../core/http/index.ts'
import type { ThreadResource } from '../../kit/access.ts'
import { type FaceRoute, onDemand } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'

type Endpoints = Pick<
  typeof import('./handlers.ts'),
  'postCron' | 'patchCron' | 'deleteCron' | 'searchCrons' | 'getCronCount'
>

const endpoint = (name: keyof Endpoints) =>
  onDemand<PlatformContext>(async () => (await import('./handlers.ts'))[name])

const namedCron = async (context: PlatformContext, call: Call): Promise<ThreadResource> =>
  (await import('./handlers.ts')).namedCron(context, call)

/** Runs that are started repeatedly, on a schedule. */
export const CRON_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  // The assistant is in the body, and creating a cron needs two permissions.
  ['POST', '/runs/crons', null, /* @__PURE__ */ endpoint('postCron')],
  ['POST', '/threads/:thread_id/runs/crons', null, /* @__PURE__ */ endpoint('postCron')],
  ['PATCH', '/runs/crons/:cron_id', 'crons:update', /* @__PURE__ */ endpoint('patchCron'), namedCron],
  ['DELETE', '/runs/crons/:cron_id', 'crons:delete', /* @__PURE__ */ endpoint('deleteCron'), namedCron],
  ['POST', '/runs/crons/search', 'crons:search', /* @__PURE__ */ endpoint('searchCrons')],
  ['POST', '/runs/crons/count', 'crons:search', /* @__PURE__ */ endpoint('getCronCount')],
]
