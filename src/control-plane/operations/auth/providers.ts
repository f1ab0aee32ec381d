import { operation } from '../../api/operation.ts'
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
import { AUTH_TAG, authOf, baseUrlOf, callerOf, given } from './service.ts'

export const listProviders = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/providers',
    tag: AUTH_TAG,
    summary: 'List OAuth Providers',
    responses: { 200: PROVIDERS },
  },
  async (context, { call }) => {
    const providers = await authOf(context).listProviders(callerOf(call.principal).owner)
    return { body: providers.map(presentProvider) }
  },
)

export const createProvider = /* @__PURE__ */ operation(
  {
    method: 'POST',
    path: '/v2/auth/providers',
    tag: AUTH_TAG,
    summary: 'Create OAuth Provider',
    body: CREATE_PROVIDER,
    responses: { 200: PROVIDER, 400: ERROR, 409: ERROR },
  },
  async (context, { call, body }) => {
    const provider = await authOf(context).createProvider(callerOf(call.principal).owner, {
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
)

export const discoverProvider = /* @__PURE__ */ operation(
  {
    method: 'POST',
    path: '/v2/auth/providers/mcp-discover',
    tag: AUTH_TAG,
    summary: 'Discover MCP OAuth Provider',
    description:
      'Finds the authorization server of an MCP server (RFC 9728, RFC 8414) and registers a client there (RFC 7591).',
    body: MCP_DISCOVER,
    responses: { 200: PROVIDER, 400: ERROR, 409: ERROR, 502: ERROR },
  },
  async (context, { call, body }) => {
    const auth = authOf(context)
    const server = { providerId: body.provider_id, name: body.name, mcpServerUrl: body.mcp_server_url }
    const { owner } = callerOf(call.principal)
    return { body: presentProvider(await auth.discoverProvider(owner, server, baseUrlOf(auth, call))) }
  },
)

export const getProvider = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/providers/{provider_id}',
    tag: AUTH_TAG,
    summary: 'Get OAuth Provider',
    responses: { 200: PROVIDER, 404: ERROR },
  },
  async (context, { call, params }) => {
    const { owner } = callerOf(call.principal)
    return { body: presentProvider(await authOf(context).findProvider(owner, params.provider_id)) }
  },
)

export const patchProvider = /* @__PURE__ */ operation(
  {
    method: 'PATCH',
    path: '/v2/auth/providers/{provider_id}',
    tag: AUTH_TAG,
    summary: 'Update OAuth Provider',
    body: PATCH_PROVIDER,
    responses: { 200: PROVIDER, 400: ERROR, 404: ERROR },
  },
  async (context, { call, params, body }) => {
    const { owner } = callerOf(call.principal)
    const provider = await authOf(context).changeProvider(owner, params.provider_id, {
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
)

export const deleteProvider = /* @__PURE__ */ operation(
  {
    method: 'DELETE',
    path: '/v2/auth/providers/{provider_id}',
    tag: AUTH_TAG,
    summary: 'Delete OAuth Provider',
    description: 'Revokes and removes the tokens of all users for it.',
    responses: { 200: MESSAGE, 404: ERROR },
  },
  async (context, { call, params }) => {
    await authOf(context).removeProvider(callerOf(call.principal).owner, params.provider_id)
    return { body: { message: `OAuth provider ${params.provider_id} deleted.` } }
  },
)

export const listPlatformProviders = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/platform-providers',
    tag: AUTH_TAG,
    summary: 'List Platform OAuth Providers',
    responses: { 200: PROVIDERS },
  },
  async (context) => ({ body: authOf(context).platformProviders.map(presentProvider) }),
)

export const getPlatformProvider = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/platform-providers/{provider_id}',
    tag: AUTH_TAG,
    summary: 'Get Platform OAuth Provider',
    responses: { 200: PROVIDER, 404: ERROR },
  },
  async (context, { params }) => {
    const found = authOf(context).platformProviders.find(
      ({ providerId }) => providerId === params.provider_id,
    )
    if (!found) throw noProvider(params.provider_id)
    return { body: presentProvider(found) }
  },
)
