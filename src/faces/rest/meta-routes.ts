import { json } from '../../core/http/index.ts'
import { internalsOf } from '../../engine/index.ts'
import type { FaceCall, FaceRoute } from '../kit/routes.ts'
import type { PlatformContext } from './context.ts'

/** Clients call these first. The responses contain no user data, so the routes are public. */
export const META_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  ['GET', '/ok', 'public', getOk],
  ['GET', '/info', 'public', async ({ info }) => json(info)],
]

/** `GET /ok?check_db`, for load balancers and deployment tools. */
async function getOk({ engine }: PlatformContext, { url }: FaceCall): Promise<Response> {
  const check = url.searchParams.get('check_db')
  // Reading a document that does not exist is cheap, and needs a working database.
  if (check === '1' || check === 'true') await internalsOf(engine).store.get('ok', 'ok', 'ok')
  return json({ ok: true })
}
