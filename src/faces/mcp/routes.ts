import { later } from '../../core/lazy.ts'
import { type FaceRow, route } from '../kit/routes.ts'
import { missingPackage } from './http-errors.ts'
import type { McpContext } from './options.ts'
import { getMetadata, WELL_KNOWN } from './protected-resource.ts'

const jsonrpc = { const: '2.0' }
const id = { type: ['string', 'integer', 'null'] }

/** Each method has its own permission. The MCP specification describes the params and results of its methods. */
export const MCP: FaceRow<McpContext> = route('POST', '/mcp', {
  permission: null,
  summary: 'Call a method of the Model Context Protocol, 2026-07-28 or earlier.',
  body: () => ({
    type: 'object',
    properties: { jsonrpc, id, method: { type: 'string', minLength: 1 }, params: { type: 'object' } },
    required: ['jsonrpc', 'method'],
  }),
  answers: {
    200: {
      type: 'object',
      properties: { jsonrpc, id, result: { type: 'object' }, error: { type: 'object' } },
      required: ['jsonrpc', 'id'],
    },
    202: null,
  },
  streams: true,
  // The only row that needs the package.
  run: later(() => import('./post.ts').catch(missingPackage), 'postMcp'),
})

export const METADATA: readonly FaceRow<McpContext>[] = [`${WELL_KNOWN}/mcp`, WELL_KNOWN].map((path) =>
  route('GET', path, {
    permission: 'public',
    summary: 'Get the issuers of tokens for MCP (RFC 9728).',
    answers: {
      200: {
        type: 'object',
        properties: { resource: { type: 'string' }, authorization_servers: { type: 'array' } },
        required: ['resource', 'authorization_servers'],
      },
    },
    run: getMetadata,
  }),
)
