import type { RouteDescription, RouteDescriptions } from '../../core/http/index.ts'

const metadata: RouteDescription = {
  summary: 'Get the issuers of tokens for MCP (RFC 9728).',
  answers: {
    200: {
      type: 'object',
      properties: { resource: { type: 'string' }, authorization_servers: { type: 'array' } },
      required: ['resource', 'authorization_servers'],
    },
  },
}

const jsonrpc = { const: '2.0' }
const id = { type: ['string', 'integer', 'null'] }

/**
 * The MCP routes for the OpenAPI document. The MCP specification describes the params and results of its
 * methods.
 */
export const DESCRIPTIONS: RouteDescriptions = {
  'POST /mcp': {
    summary: 'Call a method of the Model Context Protocol, 2026-07-28 or earlier.',
    body: {
      type: 'object',
      properties: { jsonrpc, id, method: { type: 'string', minLength: 1 }, params: { type: 'object' } },
      required: ['jsonrpc', 'method'],
    },
    answers: {
      200: {
        type: 'object',
        properties: { jsonrpc, id, result: { type: 'object' }, error: { type: 'object' } },
        required: ['jsonrpc', 'id'],
      },
      202: null,
    },
    streams: true,
  },
  'GET /.well-known/oauth-protected-resource/mcp': metadata,
  'GET /.well-known/oauth-protected-resource': metadata,
}
