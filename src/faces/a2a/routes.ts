import { type FaceRow, type RouteFields, route } from '../kit/routes.ts'
import { getCard } from './card/get-card.ts'
import { WELL_KNOWN } from './card/options.ts'
import type { A2AContext } from './options.ts'
import { postMessage } from './rpc/post-message.ts'

const card: RouteFields<A2AContext, undefined> = {
  permission: 'public',
  summary: 'Get the agent card.',
  answers: {
    200: {
      type: 'object',
      properties: { name: { type: 'string' }, version: { type: 'string' }, skills: { type: 'array' } },
      required: ['name', 'version', 'skills'],
    },
  },
  run: getCard,
}

const id = { type: ['string', 'integer', 'null'] }
const jsonrpc = { const: '2.0' }

export const ROUTES: readonly FaceRow<A2AContext>[] = [
  route('POST', '/a2a/:assistant_id', {
    // Each method has its own permission. The A2A specification describes the params and results.
    permission: null,
    summary: 'Call a method of A2A 0.3 or 1.0 over JSON-RPC.',
    body: () => ({
      type: 'object',
      properties: { jsonrpc, id, method: { type: 'string', minLength: 1 }, params: {} },
      required: ['jsonrpc', 'id', 'method'],
    }),
    answers: {
      200: {
        type: 'object',
        properties: { jsonrpc, id, result: {}, error: { type: 'object' } },
        required: ['jsonrpc', 'id'],
        oneOf: [{ required: ['result'] }, { required: ['error'] }],
      },
    },
    streams: true,
    run: postMessage,
  }),
  route('GET', '/a2a/:assistant_id', card),
  route('GET', `/a2a/:assistant_id${WELL_KNOWN}`, card),
  route('GET', WELL_KNOWN, card),
]
