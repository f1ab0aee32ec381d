import { createHandler, type HandlerOptions, type WebHandler } from '../http/index.ts'
import type { Authorize } from '../requests/access.ts'
import { encodeRunError } from '../requests/errors.ts'
import { type FaceRoute, guardRoutes } from '../requests/routes.ts'
import type { AgentEngine } from '../runs/index.ts'
import { ASSISTANT_ROUTES } from './assistants/routes.ts'
import type { PlatformContext, PlatformSwitches } from './context.ts'
import { createCrons } from './crons/crons.ts'
import { CRON_ROUTES } from './crons/routes.ts'
import { infoOf, type ServerSurroundings } from './info.ts'
import { META_ROUTES } from './meta-routes.ts'
import { RUN_ROUTES } from './runs/routes.ts'
import { createWebhooks, type WebhookOptions } from './runs/webhooks.ts'
import { STORE_ROUTES } from './store/routes.ts'
import { THREAD_ROUTES } from './threads/routes.ts'

export interface PlatformGroupOptions
  extends Pick<HandlerOptions, 'basePath' | 'authenticate' | 'maxBodyBytes' | 'onError' | 'onClose'> {
  readonly engine: AgentEngine
  readonly authorize?: Authorize | undefined
  readonly switches?: PlatformSwitches | undefined
  readonly webhooks?: WebhookOptions | undefined
  readonly surroundings?: ServerSurroundings | undefined
}

/** The REST of LangGraph's platform: a route table over the engine. */
export function createPlatformGroup(options: PlatformGroupOptions): WebHandler {
  const {
    engine,
    authorize,
    switches = {},
    webhooks: deliveries = {},
    surroundings = {},
    ...handler
  } = options
  const { onError, onClose } = handler
  const webhooks = createWebhooks(engine, deliveries, onError)
  const starts = { engine, authorize, onError, webhooks }
  const crons = switches.disable_runs
    ? undefined
    : createCrons({
        engine,
        onError,
        startRun: async (...due) => (await import('./crons/handlers.ts')).startCronRun(starts)(...due),
      })
  const context: PlatformContext = { ...starts, crons, info: infoOf(switches, surroundings) }
  return createHandler({
    ...handler,
    routes: guardRoutes(context, routesOf(switches)).map(([method, pattern, endpoint, kind]) => [
      method,
      pattern,
      (call) => {
        crons?.start()
        webhooks.outbox.start()
        return endpoint(call)
      },
      kind,
    ]),
    encodeError: encodeRunError,
    textErrors: true,
    async onClose() {
      await Promise.all([crons?.close(), webhooks.outbox.close()])
      await onClose?.()
    },
    onRefuse: (refusal) => engine.observe({ type: 'request.refused', ...refusal, at: Date.now() }),
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
