import type { AuthorizationServer } from 'oauth4webapi'
import type * as z from 'zod/mini'
import { uuid7 } from '../../core/ids.ts'
import { ConflictError } from '../../storage/index.ts'
import { noProvider, ProviderError, refusal } from '../errors.ts'
import { retryConflicts } from '../records/docs.ts'
import { tenantIdOf } from '../records/names.ts'
import type { CREATE_PROVIDER, MCP_DISCOVER, PATCH_PROVIDER } from '../wire/auth.ts'
import type { Given } from '../wire/common.ts'
import { callbackUrl, checkEndpoint, checkRedirectUri, sealClientSecret } from './endpoints.ts'
import {
  load,
  loadAll,
  PROVIDER_DEFAULTS,
  PROVIDERS,
  type ProviderRecord,
  put,
  type Stored,
  unchanged,
  WORKSPACE_TOKENS,
} from './records.ts'
import type { AuthContext, CallerContext } from './service.ts'
import { loadWorkspaceToken, removeAllTokens, SLACK } from './tokens/removal.ts'

type NewProvider = Given<z.output<typeof CREATE_PROVIDER>>
type ProviderChange = Given<z.output<typeof PATCH_PROVIDER>>

/** A tenant's providers, oldest first. */
export async function listProviders({ store, tenant }: CallerContext): Promise<readonly ProviderRecord[]> {
  const found = await loadAll<ProviderRecord>(store, PROVIDERS, { partition: tenant })
  return found.map(({ record }) => record).sort((a, b) => a.createdAt - b.createdAt)
}

export const findProvider = async (context: CallerContext, providerId: string): Promise<ProviderRecord> =>
  (await find(context, providerId)).record

export const createProvider = (context: CallerContext, given: NewProvider): Promise<ProviderRecord> =>
  addProvider(context, given, {})

export const changeProvider = (
  context: CallerContext,
  providerId: string,
  change: ProviderChange,
): Promise<ProviderRecord> =>
  retryConflicts(async () => {
    const found = await find(context, providerId)
    const { clientSecret, ...given } = change
    const { codeChallengeMethod = found.record.codeChallengeMethod } = checkProvider(context, change)
    const next: ProviderRecord = { ...found.record, ...given, codeChallengeMethod, updatedAt: context.now() }
    if (next.tokenUrl !== found.record.tokenUrl && next.secrets.length > 0 && !clientSecret)
      throw refusal(400, 'To change token_url, send client_secret again.')
    // The old server's metadata does not apply to another server.
    const isMoved = next.tokenUrl !== found.record.tokenUrl || next.authUrl !== found.record.authUrl
    const record = {
      ...next,
      ...(isMoved && { revocationUrl: null, issuer: null, sendsIssuer: false }),
      ...(clientSecret && { secrets: await sealClientSecret(context, next.id, clientSecret) }),
    }
    await context.store.commit(context.tenant, {
      guards: [unchangedProvider(found)],
      ops: [putProvider(record)],
    })
    return record
  })

/** Also removes all users' tokens for it. */
export async function removeProvider(context: CallerContext, providerId: string): Promise<void> {
  const { store, tenant } = context
  const { record } = await find(context, providerId)
  await removeAllTokens(context, record)
  await retryConflicts(async () => {
    const found = await load<ProviderRecord>(store, tenant, PROVIDERS, providerId)
    if (found?.record.id !== record.id) return
    const isWorkspace = (await loadWorkspaceToken(context))?.providerKey === record.id
    await store.commit(tenant, {
      guards: [unchangedProvider(found)],
      ops: [
        { op: 'delete', collection: PROVIDERS, id: providerId },
        ...(isWorkspace ? [{ op: 'delete', collection: WORKSPACE_TOKENS, id: SLACK } as const] : []),
      ],
    })
  })
  // A sign-in may have completed meanwhile.
  await removeAllTokens(context, record)
}

async function find({ store, tenant }: CallerContext, providerId: string): Promise<Stored<ProviderRecord>> {
  const found = await load<ProviderRecord>(store, tenant, PROVIDERS, providerId)
  if (!found) throw noProvider(providerId)
  return found
}

/** The fields of a provider whose metadata was read. */
type Discovered = Partial<
  Pick<
    ProviderRecord,
    'revocationUrl' | 'issuer' | 'sendsIssuer' | 'resource' | 'mcpServerUrl' | 'isDynamicClient'
  >
>

/** Throws 409 if the tenant already has this `providerId`. */
async function addProvider(
  context: CallerContext,
  given: NewProvider,
  discovered: Discovered,
): Promise<ProviderRecord> {
  const { store, owner, tenant, now } = context
  const { codeChallengeMethod } = checkProvider(context, given)
  const at = now()
  const { clientSecret, ...rest } = given
  const id = uuid7(at)
  const record: ProviderRecord = {
    ...PROVIDER_DEFAULTS,
    ...rest,
    ...discovered,
    codeChallengeMethod,
    id,
    organizationId: await tenantIdOf(owner),
    ...(clientSecret && { secrets: await sealClientSecret(context, id, clientSecret) }),
    createdAt: at,
    updatedAt: at,
  }
  try {
    await store.commit(tenant, {
      guards: [{ guard: 'absent', collection: PROVIDERS, id: given.providerId }],
      ops: [putProvider(record)],
    })
  } catch (error) {
    if (error instanceof ConflictError)
      throw refusal(409, `OAuth provider ID ${given.providerId} already exists.`)
    throw error
  }
  return record
}

/** Parameters that a provider's own may not override. */
const RESERVED = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'request',
  'request_uri',
  'nonce',
]

/** Throws 400 for URLs that users or secrets must not be sent to. */
function checkProvider(
  { allowLoopback }: AuthContext,
  given: ProviderChange,
): Pick<ProviderRecord, 'codeChallengeMethod'> {
  const { codeChallengeMethod } = given
  if (codeChallengeMethod !== undefined && codeChallengeMethod !== 'S256' && codeChallengeMethod !== 'plain')
    throw refusal(400, "'code_challenge_method' must be 'S256' or 'plain'.")
  if (given.authUrl !== undefined) checkEndpoint('auth_url', given.authUrl, allowLoopback)
  if (given.tokenUrl !== undefined) checkEndpoint('token_url', given.tokenUrl, allowLoopback)
  for (const uri of given.allowedRedirectUris ?? []) checkRedirectUri(uri)
  if (given.defaultRedirectUri != null) checkRedirectUri(given.defaultRedirectUri)
  const reserved = Object.keys(given.authorizationParams ?? {}).find((name) => RESERVED.includes(name))
  if (reserved !== undefined)
    throw refusal(
      400,
      `authorization_params cannot set '${reserved}': the authorization request sets it itself.`,
    )
  return codeChallengeMethod === undefined ? {} : { codeChallengeMethod }
}

// The document id is the name in URLs.
const putProvider = (record: ProviderRecord) => put(PROVIDERS, record.providerId, record)
const unchangedProvider = (read: Stored<ProviderRecord>) =>
  unchanged(PROVIDERS, { ...read, record: { id: read.record.providerId } })

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
