import { json } from '../../core/http/index.ts'
import { internalsOf } from '../../engine/index.ts'
import { type FaceCall, type FaceRow, route } from '../kit/routes.ts'
import type { PlatformContext } from './context.ts'

const text = { type: 'string' }

const infoAnswer = {
  type: 'object',
  properties: {
    version: text,
    langgraph_js_version: { type: ['string', 'null'] },
    context: { type: 'string', const: 'js' },
    flags: { type: 'object', propertyNames: text, additionalProperties: { type: 'boolean' } },
  },
  required: ['version', 'context', 'flags'],
  additionalProperties: false,
}

/** Clients call these first. The responses contain no user data, so the routes are public. */
export const META_ROUTES: readonly FaceRow<PlatformContext>[] = [
  route('GET', '/ok', {
    permission: 'public',
    summary: 'Check that the server is up.',
    query: { check_db: text },
    answers: {
      200: {
        type: 'object',
        properties: { ok: { type: 'boolean', const: true } },
        required: ['ok'],
        additionalProperties: false,
      },
    },
    run: getOk,
  }),
  route('GET', '/info', {
    permission: 'public',
    summary: 'Get the versions and features of the server.',
    answers: { 200: infoAnswer },
    run: async ({ info }: PlatformContext) => json(info),
  }),
]

/** `GET /ok?check_db`, for load balancers and deployment tools. */
async function getOk({ engine }: PlatformContext, { url }: FaceCall): Promise<Response> {
  const check = url.searchParams.get('check_db')
  // Reading a document that does not exist is cheap, and needs a working database.
  if (check === '1' || check === 'true') await internalsOf(engine).store.get('ok', 'ok', 'ok')
  return json({ ok: true })
}
