import type { FaceCall, FaceRoute } from '../face/routes.ts'
import { json } from '../http/index.ts'
import { internalsOf } from '../runs/index.ts'
import type { PlatformContext } from './context.ts'

/** Clients ask these before anything else. The answers name no user, so the routes are public. */
export const META_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  ['GET', '/ok', 'public', getOk],
  ['GET', '/info', 'public', async ({ info }) => json(info)],
]

/** `GET /ok?check_db`: load balancers and deployers ask it. */
async function getOk({ engine }: PlatformContext, { url }: FaceCall): Promise<Response> {
  const check = url.searchParams.get('check_db')
  // One read of a document that is not there: the database has to answer, and it costs nothing.
  if (check === '1' || check === 'true') await internalsOf(engine).store.get('ok', 'ok', 'ok')
  return json({ ok: true })
}
