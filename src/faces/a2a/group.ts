import type { WebHandler } from '../../core/http/index.ts'
import { lazy } from '../../core/lazy.ts'
import { type AgentEngine, jobsOf } from '../../engine/index.ts'
import type { JobHandler } from '../../storage/jobs/kind.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { type FaceRoute, onDemand } from '../kit/routes.ts'
import { cardSettings } from './card/options.ts'
import type { A2AContext } from './context.ts'
import { A2A_HEADERS } from './headers.ts'
import type { A2AOptions } from './options.ts'
import { pushJobs } from './push/pushes.ts'
import { encodeA2AError } from './rpc/errors.ts'

/** A2A over HTTP: a route table over the engine. The endpoints are loaded with the first request. */
export function createA2AGroup(setup: FaceSetup, options: A2AOptions = {}): WebHandler {
  const { engine, authenticate } = setup
  const push = options.push === false ? undefined : (options.push ?? {})
  const jobs = jobsOf(engine)
  if (push) jobs.register(pushJobs(followOnDemand(engine), push))
  const card = cardSettings(options.card, { authenticate, pushNotifications: push !== undefined })
  return createFace<A2AContext>(setup, {
    basePath: options.basePath,
    routes: ROUTES,
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
    context: { authenticate, options, card, push },
    encodeError: encodeA2AError,
    protocolHeaders: A2A_HEADERS,
    onRequest: jobs.start,
  })
}

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))

const followOnDemand =
  (engine: AgentEngine): JobHandler =>
  async (...job) =>
    (await endpoints()).followForPush(engine)(...job)

const getCard = /* @__PURE__ */ onDemand<A2AContext>(async () => (await endpoints()).getCard)

const ROUTES: readonly FaceRoute<A2AContext>[] = [
  // Each method has its own permission.
  ['POST', '/a2a/:assistant_id', null, /* @__PURE__ */ onDemand(async () => (await endpoints()).postMessage)],
  ['GET', '/a2a/:assistant_id', 'public', getCard],
  ['GET', '/a2a/:assistant_id/.well-known/agent-card.json', 'public', getCard],
  ['GET', '/.well-known/agent-card.json', 'public', getCard],
]
