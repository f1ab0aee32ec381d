import { type FaceRoute, onDemand } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'

/** The platform's stream of a thread. The streaming protocol's web socket has the same path. */
export const THREAD_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  [
    'GET',
    '/threads/:thread_id/stream',
    'threads:stream',
    /* @__PURE__ */ onDemand(async () => (await import('./join.ts')).joinThread),
  ],
]
