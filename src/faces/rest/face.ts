import type { WebHandler } from '../../core/http/index.ts'
import { jobsOf } from '../../engine/index.ts'
import { type JobKinds, RETRY_FOR_A_DAY } from '../../storage/jobs/kind.ts'
import {
  createFace,
  type EngineChoice,
  type Face,
  type FaceOptions,
  type FaceSetup,
  HTTP_OPTIONS,
  type HttpOptions,
  standalone,
} from '../kit/create-face.ts'
import { PAGE_HEADERS } from '../kit/lists.ts'
import {
  infoOf,
  PLATFORM_OPTIONS,
  PLATFORM_SWITCHES,
  type PlatformContext,
  type PlatformOptions,
  type PlatformSwitches,
} from './context.ts'
import type { CronContext } from './crons/fire.ts'
import { CRON_JOB, FINISH_JOB } from './crons/jobs.ts'
import { createWebhooks } from './runs/webhooks.ts'

/** The REST API of LangGraph's platform. */
export function createPlatformGroup(
  setup: FaceSetup,
  { basePath, webhooks: deliveries = {}, info = {} }: PlatformOptions = {},
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
    context: { webhooks, info: infoOf(switches, info) },
    textErrors: true,
    protocolHeaders: {
      request: ['user-agent', 'x-auth-scheme', 'x-tenant-id'],
      response: PAGE_HEADERS,
    },
    onRequest: jobs.start,
  })
}

/** Each part is loaded on its own, because many servers are asked for one or two of them. */
const routesOf = ({
  disable_assistants,
  disable_meta,
  disable_runs,
  disable_store,
}: PlatformSwitches): Face<PlatformContext>['routes'] => [
  ...(disable_assistants
    ? []
    : [
        {
          below: ['/assistants'],
          load: async () => (await import('./assistants/routes.ts')).ASSISTANT_ROUTES,
        },
      ]),
  ...(disable_runs
    ? []
    : [
        {
          below: ['/runs/crons', '/threads'],
          load: async () => (await import('./crons/routes.ts')).CRON_ROUTES,
        },
      ]),
  ...(disable_meta
    ? []
    : [{ below: ['/ok', '/info'], load: async () => (await import('./meta.ts')).META_ROUTES }]),
  ...(disable_runs
    ? []
    : [{ below: ['/runs', '/threads'], load: async () => (await import('./runs/routes.ts')).RUN_ROUTES }]),
  ...(disable_store
    ? []
    : [{ below: ['/store'], load: async () => (await import('./store/routes.ts')).STORE_ROUTES }]),
  ...(disable_runs
    ? []
    : [{ below: ['/threads'], load: async () => (await import('./threads/routes.ts')).THREAD_ROUTES }]),
]

/** The REST API of LangGraph's platform alone, over an engine or the options for one. */
export const createPlatformHandler = (
  options: FaceOptions &
    EngineChoice & {
      readonly platform?: PlatformOptions | undefined
      readonly http?: (HttpOptions & PlatformSwitches) | undefined
    },
): WebHandler =>
  standalone(
    'createPlatformHandler',
    options,
    { platform: PLATFORM_OPTIONS, http: { ...HTTP_OPTIONS, ...PLATFORM_SWITCHES } },
    (setup) => createPlatformGroup(setup, options.platform, options.http),
  )

/** The jobs that start the runs of due crons and delete the threads of those runs. */
export const cronJobs = (context: CronContext): JobKinds => ({
  [CRON_JOB]: {
    handle: async (...job) => (await loadHandlers()).fireCron(context)(...job),
    retry: RETRY_FOR_A_DAY,
  },
  [FINISH_JOB]: {
    handle: async (...job) => (await loadHandlers()).finishRun(context.engine)(...job),
    retry: RETRY_FOR_A_DAY,
  },
})

const loadHandlers = () => import('./crons/handlers.ts')
