import { type FaceRow, route } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { joinThread } from './join.ts'

/** The platform's stream of a thread. The streaming protocol's web socket has the same path. */
export const THREAD_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('GET', '/threads/:thread_id/stream', {
    permission: 'threads:stream',
    summary: 'Stream what happens on a thread, run after run.',
    query: { stream_mode: { type: 'array', items: { enum: ['run_modes', 'lifecycle'] } } },
    streams: true,
    run: joinThread,
  }),
]
