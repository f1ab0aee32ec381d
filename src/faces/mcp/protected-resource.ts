import {
  calledUrl,
  type HandlerContext,
  json,
  publicBase,
  publicOrigin,
  type WebHandler,
} from '../../core/http/index.ts'
import type { FaceCall } from '../kit/routes.ts'
import type { McpContext, McpOptions } from './options.ts'

/** Where clients look for the metadata, with the server's path after it and without. Source: RFC 9728, §3.1. */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * `GET /.well-known/oauth-protected-resource/mcp`: the issuers of tokens for this server. Pages of any origin
 * may read it.
 */
export async function getMetadata({ options }: McpContext, call: FaceCall): Promise<Response> {
  const { authorizationServers, scopes, resource } = options.protectedResource!
  const metadata = {
    resource: resource ?? `${publicBase(call)}/mcp`,
    authorization_servers: authorizationServers,
    ...(scopes && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
  }
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'max-age=3600' }
  return json(metadata, { headers })
}

/** Adds the location of the metadata to the handler's 401 responses. Source: RFC 9728, §5.1. */
export function challenging(
  handler: WebHandler,
  { basePath = '', protectedResource }: McpOptions,
): WebHandler {
  const scopes = protectedResource?.scopes?.join(' ')
  const through =
    <Answer extends Response | undefined>(
      answer: (request: Request, context?: HandlerContext) => Promise<Answer>,
    ) =>
    async (request: Request, context?: HandlerContext): Promise<Answer> => {
      const response = await answer(request, context)
      if (response?.status !== 401) return response
      const { origin } = publicOrigin(request.headers, calledUrl(request, context))
      const url = `${origin}${context?.basePath || basePath}${WELL_KNOWN}/mcp`
      const scope = scopes ? `, scope="${scopes}"` : ''
      const headers = new Headers(response.headers)
      headers.set('www-authenticate', `Bearer resource_metadata="${url}"${scope}`)
      return new Response(response.body, { status: 401, headers }) as Answer
    }
  return { ...handler, handle: through(handler.handle), fetch: through(handler.fetch) }
}
