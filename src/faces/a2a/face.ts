import type { WebHandler } from '../../core/http/index.ts'
import { jobsOf, type ServedEngine } from '../../engine/index.ts'
import type { JobHandler } from '../../storage/jobs/kind.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../kit/create-face.ts'
import { cardSettings, WELL_KNOWN } from './card/options.ts'
import { encodeA2AError } from './errors.ts'
import { A2A_HEADERS, A2A_OPTIONS, type A2AContext, type A2AOptions } from './options.ts'
import { pushJobs } from './push/pushes.ts'

/** A2A over HTTP. */
export function createA2AGroup(setup: FaceSetup, options: A2AOptions = {}): WebHandler {
  const { engine, authenticate } = setup
  const push = options.push === false ? undefined : (options.push ?? {})
  const jobs = jobsOf(engine)
  if (push) jobs.register(pushJobs(followOnDemand(engine), push))
  const card = cardSettings(options.card, { authenticate, pushNotifications: push !== undefined })
  return createFace<A2AContext>(setup, {
    basePath: options.basePath,
    routes: [{ below: ['/a2a', WELL_KNOWN], load: async () => (await import('./routes.ts')).ROUTES }],
    context: { authenticate, options, card, push },
    encodeError: encodeA2AError,
    protocolHeaders: A2A_HEADERS,
    onRequest: jobs.start,
  })
}

const followOnDemand =
  (engine: ServedEngine): JobHandler =>
  async (...job) =>
    (await import('./push/follower.ts')).followForPush(engine)(...job)

/**
 * Creates a handler that serves only A2A, with an engine or the options to create one. Throws
 * `AgentwireError` `invalid_argument` for unknown or invalid options.
 */
export const createA2AHandler = (
  options: FaceOptions & EngineChoice & { readonly a2a?: A2AOptions | undefined },
): WebHandler =>
  standalone('createA2AHandler', options, { a2a: A2A_OPTIONS }, (setup) => createA2AGroup(setup, options.a2a))
