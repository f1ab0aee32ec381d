import { json } from '../../http/index.ts'
import type { FaceRoute } from '../../requests/routes.ts'
import type { PlatformContext } from '../context.ts'

/** What clients ask before anything else. It says nothing of anybody, so that anybody may ask. */
export const META_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  ['GET', '/ok', 'public', async () => json({ ok: true })],
  ['GET', '/info', 'public', async () => json({ context: 'js', flags: { assistants: true, crons: true } })],
]
