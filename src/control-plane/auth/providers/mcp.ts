import type { AuthorizationServer } from 'oauth4webapi'
import type * as z from 'zod/mini'
import { ProviderError, refusal } from '../../errors.ts'
import type { MCP_DISCOVER } from '../../wire/auth.ts'
import type { Given } from '../../wire/common.ts'
import { addProvider, type NewProvider } from '../manage-providers.ts'
import type { ProviderRecord } from '../records.ts'
import type { AuthContext, CallerContext } from '../service.ts'
import { callbackUrl, checkEndpoint } from './endpoints.ts'

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414), and registers a client there (RFC
 * 7591). Source: MCP 2025-06-18, "Authorization". Throws 400 if either is not supported.
 */
export async function discoverProvider(
  context: CallerContext,
  { providerId, name, mcpServerUrl }: Given<z.output<typeof MCP_DISCOVER>>,
  baseUrl: string,
): Promise<ProviderRecord> {
  const { client, allowLoopback } = context
  checkEndpoint('mcp_server_url', mcpServerUrl, allowLoopback)
  const check = (member: string, url: unknown): string =>
    checkEndpoint(`The ${member} of the authorization server`, String(url), allowLoopback)
  try {
    const mcpServer = new URL(mcpServerUrl)
    const resource = await findResource(context, mcpServer)
    // Without resource metadata, the server's own origin is the authorization server (MCP 2025-03-26).
    const issuer = check('issuer', resource?.authorization_servers?.[0] ?? mcpServer.origin)
    const server = await client.findServer(new URL(issuer))
    if (!server)
      throw refusal(400, 'The authorization server of this MCP server publishes no metadata (RFC 8414).')
    assertUsable(server)
    for (const [member, url] of Object.entries(server)) if (ENDPOINTS.includes(member)) check(member, url)
    const redirectUri = callbackUrl(baseUrl, providerId)
    const registered = await client.register(server, {
      client_name: name,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
    const given: NewProvider = {
      providerId,
      name,
      clientId: registered.clientId,
      clientSecret: registered.clientSecret ?? '',
      authUrl: server.authorization_endpoint!,
      tokenUrl: server.token_endpoint!,
      usesPkce: true,
      codeChallengeMethod: 'S256',
      tokenEndpointAuthMethod: registered.authMethod,
    }
    return await addProvider(context, given, {
      revocationUrl: server.revocation_endpoint ?? null,
      issuer: server.issuer,
      sendsIssuer: server.authorization_response_iss_parameter_supported === true,
      resource: resource?.resource ?? mcpServerUrl,
      mcpServerUrl,
      isDynamicClient: true,
    })
  } catch (error) {
    if (error instanceof ProviderError) throw refusal(error.isTransient ? 502 : 400, error.message)
    throw error
  }
}

const ENDPOINTS: readonly string[] = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
]

/** The metadata of the resource itself, otherwise of its server. */
async function findResource({ client }: AuthContext, mcpServer: URL) {
  const own = await client.findResource(mcpServer)
  return own || mcpServer.pathname === '/' ? own : client.findResource(new URL(mcpServer.origin))
}

function assertUsable(server: AuthorizationServer): void {
  if (!server.authorization_endpoint || !server.token_endpoint)
    throw refusal(400, 'The authorization server has no authorization_endpoint or no token_endpoint.')
  if (!server.registration_endpoint)
    throw refusal(
      400,
      'The authorization server does not register clients (RFC 7591). Create the provider by hand.',
    )
  const methods = server.code_challenge_methods_supported
  if (methods && !methods.includes('S256'))
    throw refusal(400, 'The authorization server does not support PKCE with S256, which MCP requires.')
}
