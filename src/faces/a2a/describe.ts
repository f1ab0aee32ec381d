import type { RouteDescription, RouteDescriptions } from '../../core/http/index.ts'

const card: RouteDescription = {
  summary: 'Get the agent card.',
  answers: {
    200: {
      type: 'object',
      properties: { name: { type: 'string' }, version: { type: 'string' }, skills: { type: 'array' } },
      required: ['name', 'version', 'skills'],
    },
  },
}

const id = { type: ['string', 'integer', 'null'] }
const jsonrpc = { const: '2.0' }

/**
 * The descriptions of the A2A routes for the OpenAPI document. The A2A specification describes each method's
 * params and result.
 */
export const DESCRIPTIONS: RouteDescriptions = {
  'POST /a2a/:assistant_id': {
    summary: 'Call a method of A2A 0.3 or 1.0 over JSON-RPC.',
    body: {
      type: 'object',
      properties: { jsonrpc, id, method: { type: 'string', minLength: 1 }, params: {} },
      required: ['jsonrpc', 'id', 'method'],
    },
    answers: {
      200: {
        type: 'object',
        properties: { jsonrpc, id, result: {}, error: { type: 'object' } },
        required: ['jsonrpc', 'id'],
        oneOf: [{ required: ['result'] }, { required: ['error'] }],
      },
    },
    streams: true,
  },
  'GET /a2a/:assistant_id': card,
  'GET /a2a/:assistant_id/.well-known/agent-card.json': card,
  'GET /.well-known/agent-card.json': card,
}
