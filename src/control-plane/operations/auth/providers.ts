import * as z from 'zod/mini'
import { tagged } from '../../api/route.ts'
import type { ProviderRecord } from '../../auth/records.ts'
import { noProvider } from '../../errors.ts'
import { present } from '../../present.ts'
import {
  CLIENT_AUTH,
  CREATE_PROVIDER,
  MCP_DISCOVER,
  MESSAGE,
  PARAMETERS,
  PATCH_PROVIDER,
  PROVIDER_TYPE,
} from '../../wire/auth.ts'
import * as t from '../../wire/common.ts'
import { AUTH_TAG, authRoute, baseUrlOf } from './service.ts'

const PROVIDER = t.titled('OAuthProviderResponse', {
  id: t.STRING,
  organization_id: t.NULL_UUID,
  provider_id: t.STRING,
  name: t.STRING,
  client_id: t.STRING,
  auth_url: t.STRING,
  token_url: t.STRING,
  uses_pkce: t.BOOLEAN,
  code_challenge_method: t.NULL_STRING,
  provider_type: PROVIDER_TYPE,
  token_endpoint_auth_method: CLIENT_AUTH,
  mcp_server_url: t.NULL_STRING,
  is_dynamic_client: t.BOOLEAN,
  authorization_params: z.optional(PARAMETERS),
  allowed_redirect_uris: z.optional(t.STRINGS),
  default_redirect_uri: t.OPT_STRING,
  created_at: t.TIME,
  updated_at: t.TIME,
})

const PROVIDERS = t.list(PROVIDER)

const presented = ({ codeChallengeMethod = 'S256', ...provider }: ProviderRecord) =>
  present(PROVIDER, { ...provider, codeChallengeMethod })

export const providerOperations = tagged(AUTH_TAG, [
  authRoute('GET', '/v2/auth/providers', {
    summary: 'List OAuth Providers',
    answers: { 200: PROVIDERS },
    run: async (auth) => ({ body: (await auth.listProviders()).map(presented) }),
  }),
  authRoute('POST', '/v2/auth/providers', {
    summary: 'Create OAuth Provider',
    body: CREATE_PROVIDER,
    answers: { 200: PROVIDER },
    errors: [400, 409],
    run: async (auth, { body }) => ({ body: presented(await auth.createProvider(t.given(body))) }),
  }),
  authRoute('POST', '/v2/auth/providers/mcp-discover', {
    summary: 'Discover MCP OAuth Provider',
    description:
      'Finds the authorization server of an MCP server (RFC 9728, RFC 8414) and registers a client there (RFC 7591).',
    body: MCP_DISCOVER,
    answers: { 200: PROVIDER },
    errors: [400, 409, 502],
    run: async (auth, { call, body }) => ({
      body: presented(await auth.discoverProvider(t.given(body), baseUrlOf(auth, call))),
    }),
  }),
  authRoute('GET', '/v2/auth/providers/:provider_id', {
    summary: 'Get OAuth Provider',
    answers: { 200: PROVIDER },
    errors: [404],
    run: async (auth, { params }) => ({ body: presented(await auth.findProvider(params.provider_id)) }),
  }),
  authRoute('PATCH', '/v2/auth/providers/:provider_id', {
    summary: 'Update OAuth Provider',
    body: PATCH_PROVIDER,
    answers: { 200: PROVIDER },
    errors: [400, 404],
    run: async (auth, { params, body }) => ({
      body: presented(await auth.changeProvider(params.provider_id, t.given(body))),
    }),
  }),
  authRoute('DELETE', '/v2/auth/providers/:provider_id', {
    summary: 'Delete OAuth Provider',
    description: 'Revokes and removes the tokens of all users for it.',
    answers: { 200: MESSAGE },
    errors: [404],
    run: async (auth, { params }) => {
      await auth.removeProvider(params.provider_id)
      return { body: { message: `OAuth provider ${params.provider_id} deleted.` } }
    },
  }),
  authRoute('GET', '/v2/auth/platform-providers', {
    summary: 'List Platform OAuth Providers',
    answers: { 200: PROVIDERS },
    run: async (auth) => ({ body: auth.platformProviders.map(presented) }),
  }),
  authRoute('GET', '/v2/auth/platform-providers/:provider_id', {
    summary: 'Get Platform OAuth Provider',
    answers: { 200: PROVIDER },
    errors: [404],
    run: async (auth, { params }) => {
      const found = auth.platformProviders.find(({ providerId }) => providerId === params.provider_id)
      if (!found) throw noProvider(params.provider_id)
      return { body: presented(found) }
    },
  }),
])
