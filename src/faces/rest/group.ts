import type { WebHandler } from '../../core/http/index.ts'
import { jobsOf } from '../../engine/index.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { PAGE_HEADERS } from '../kit/lists.ts'
import type { FaceRoute } from '../kit/routes.ts'
import { ASSISTANT_ROUTES } from './assistants/routes.ts'
import type { PlatformContext, PlatformOptions, PlatformSwitches } from './context.ts'
import { cronJobs } from './crons/crons.ts'
import { CRON_ROUTES } from './crons/routes.ts'
import { infoOf } from './info.ts'
import { META_ROUTES } from './meta-routes.ts'
import { RUN_ROUTES } from './runs/routes.ts'
import { createWebhooks } from './runs/webhooks.ts'
import { STORE_ROUTES } from './store/routes.ts'
import { THREAD_ROUTES } from './threads/routes.ts'

/** The REST API of LangGraph's platform: a route table over the engine. */
export function createPlatformGroup(
  setup: FaceSetup,
  { basePath, webhooks: deliveries = {}, surroundings = {} }: PlatformOptions = {},
  switches: PlatformSwitches = {},
): WebHandler {
  const { engine, authorize, onError } = setup
  const webhooks = createWebhooks(engine, deliveries)
  const starts = { engine, authorize, onError, webhooks }
  const jobs = jobsOf(engine)
  if (!switches.disable_runs)
    jobs.register(
      cronJobs({
        engine,
        onError,
        startRun: async (...due) => (await import('./crons/handlers.ts')).startCronRun(starts)(...due),
      }),
    )
  return createFace<PlatformContext>(setup, {
    basePath,
    routes: routesOf(switches),
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    context: { webhooks, info: infoOf(switches, surroundings) },
    textErrors: true,
    protocolHeaders: {
      request: ['user-agent', 'x-auth-scheme', 'x-tenant-id'],
      response: PAGE_HEADERS,
    },
    onRequest: jobs.start,
  })
}

const routesOf = ({
  disable_assistants,
  disable_meta,
  disable_runs,
  disable_store,
}: PlatformSwitches): readonly FaceRoute<PlatformContext>[] => [
  ...(disable_assistants ? [] : ASSISTANT_ROUTES),
  ...(disable_runs ? [] : CRON_ROUTES),
  ...(disable_meta ? [] : META_ROUTES),
  ...(disable_runs ? [] : RUN_ROUTES),
  ...(disable_store ? [] : STORE_ROUTES),
  ...(disable_runs ? [] : THREAD_ROUTES),
]
