import { tagged } from '../../api/operation.ts'
import { noProvider } from '../../auth/errors.ts'
import { challengeMethodOf } from '../../auth/providers/pkce.ts'
import { presentProvider } from '../../present/auth.ts'
import {
  CREATE_PROVIDER,
  MCP_DISCOVER,
  MESSAGE,
  PATCH_PROVIDER,
  PROVIDER,
  PROVIDERS,
} from '../../wire/auth.ts'
import { ERROR } from '../../wire/common.ts'
import { AUTH_TAG, authOperation, baseUrlOf, given } from './service.ts'

export const providerOperations = /* @__PURE__ */ tagged(AUTH_TAG, [
  authOperation(
    'GET /v2/auth/providers',
    'List OAuth Providers',
    {
      responses: { 200: PROVIDERS },
    },
    async (auth, caller) => ({ body: (await auth.listProviders(caller.owner)).map(presentProvider) }),
  ),
  authOperation(
    'POST /v2/auth/providers',
    'Create OAuth Provider',
    {
      body: CREATE_PROVIDER,
      responses: { 200: PROVIDER, 400: ERROR, 409: ERROR },
    },
    async (auth, caller, { body }) => {
      const provider = await auth.createProvider(caller.owner, {
        providerId: body.provider_id,
        name: body.name,
        clientId: body.client_id,
        clientSecret: body.client_secret || null,
        authUrl: body.auth_url,
        tokenUrl: body.token_url,
        usesPkce: body.uses_pkce,
        codeChallengeMethod: challengeMethodOf(body.code_challenge_method),
        providerType: body.provider_type ?? null,
        tokenEndpointAuthMethod: body.token_endpoint_auth_method,
        authorizationParams: body.authorization_params ?? {},
        allowedRedirectUris: body.allowed_redirect_uris ?? [],
        defaultRedirectUri: body.default_redirect_uri ?? null,
      })
      return { body: presentProvider(provider) }
    },
  ),
  authOperation(
    'POST /v2/auth/providers/mcp-discover',
    'Discover MCP OAuth Provider',
    {
      description:
        'Finds the authorization server of an MCP server (RFC 9728, RFC 8414) and registers a client there (RFC 7591).',
      body: MCP_DISCOVER,
      responses: { 200: PROVIDER, 400: ERROR, 409: ERROR, 502: ERROR },
    },
    async (auth, caller, { call, body }) => {
      const server = { providerId: body.provider_id, name: body.name, mcpServerUrl: body.mcp_server_url }
      return {
        body: presentProvider(await auth.discoverProvider(caller.owner, server, baseUrlOf(auth, call))),
      }
    },
  ),
  authOperation(
    'GET /v2/auth/providers/{provider_id}',
    'Get OAuth Provider',
    {
      responses: { 200: PROVIDER, 404: ERROR },
    },
    async (auth, caller, { params }) => ({
      body: presentProvider(await auth.findProvider(caller.owner, params.provider_id)),
    }),
  ),
  authOperation(
    'PATCH /v2/auth/providers/{provider_id}',
    'Update OAuth Provider',
    {
      body: PATCH_PROVIDER,
      responses: { 200: PROVIDER, 400: ERROR, 404: ERROR },
    },
    async (auth, caller, { params, body }) => {
      const provider = await auth.changeProvider(caller.owner, params.provider_id, {
        name: given(body.name),
        clientId: given(body.client_id),
        clientSecret: body.client_secret || undefined,
        authUrl: given(body.auth_url),
        tokenUrl: given(body.token_url),
        usesPkce: given(body.uses_pkce),
        codeChallengeMethod:
          body.code_challenge_method == null ? undefined : challengeMethodOf(body.code_challenge_method),
        authorizationParams: given(body.authorization_params),
        allowedRedirectUris: given(body.allowed_redirect_uris),
        defaultRedirectUri: given(body.default_redirect_uri),
      })
      return { body: presentProvider(provider) }
    },
  ),
  authOperation(
    'DELETE /v2/auth/providers/{provider_id}',
    'Delete OAuth Provider',
    {
      description: 'Revokes and removes the tokens of all users for it.',
      responses: { 200: MESSAGE, 404: ERROR },
    },
    async (auth, caller, { params }) => {
      await auth.removeProvider(caller.owner, params.provider_id)
      return { body: { message: `OAuth provider ${params.provider_id} deleted.` } }
    },
  ),
  authOperation(
    'GET /v2/auth/platform-providers',
    'List Platform OAuth Providers',
    {
      responses: { 200: PROVIDERS },
    },
    async (auth) => ({ body: auth.platformProviders.map(presentProvider) }),
  ),
  authOperation(
    'GET /v2/auth/platform-providers/{provider_id}',
    'Get Platform OAuth Provider',
    {
      responses: { 200: PROVIDER, 404: ERROR },
    },
    async (auth, _caller, { params }) => {
      const found = auth.platformProviders.find(({ providerId }) => providerId === params.provider_id)
      if (!found) throw noProvider(params.provider_id)
      return { body: presentProvider(found) }
    },
  ),
])
