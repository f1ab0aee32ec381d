import { type FaceRoute, onDemand } from '../../face/routes.ts'
import type { PlatformContext } from '../context.ts'

/** What the platform has of threads beside the streaming protocol, whose web socket has the same path. */
export const THREAD_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  [
    'GET',
    '/threads/:thread_id/stream',
    'threads:stream',
    /* @__PURE__ */ onDemand(async () => (await import('./join.ts')).joinThread),
  ],
]
