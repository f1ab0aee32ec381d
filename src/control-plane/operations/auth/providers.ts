import { tagged } from '../../api/operation.ts'
import { noProvider } from '../../auth/errors.ts'
import type { ProviderRecord } from '../../auth/records.ts'
import { present } from '../../present/present.ts'
import {
  CREATE_PROVIDER,
  MCP_DISCOVER,
  MESSAGE,
  PATCH_PROVIDER,
  PROVIDER,
  PROVIDERS,
} from '../../wire/auth.ts'
import { given } from '../../wire/names.ts'
import { AUTH_TAG, authOperation, baseUrlOf } from './service.ts'

const presented = ({ codeChallengeMethod = 'S256', ...provider }: ProviderRecord) =>
  present(PROVIDER, { ...provider, codeChallengeMethod })

export const providerOperations = /* @__PURE__ */ tagged(AUTH_TAG, [
  authOperation(
    'GET /v2/auth/providers',
    'List OAuth Providers',
    { responses: { 200: PROVIDERS } },
    async (auth) => ({ body: (await auth.listProviders()).map(presented) }),
  ),
  authOperation(
    'POST /v2/auth/providers',
    'Create OAuth Provider',
    { body: CREATE_PROVIDER, responses: { 200: PROVIDER }, errors: [400, 409] },
    async (auth, { body }) => ({ body: presented(await auth.createProvider(given(body))) }),
  ),
  authOperation(
    'POST /v2/auth/providers/mcp-discover',
    'Discover MCP OAuth Provider',
    {
      description:
        'Finds the authorization server of an MCP server (RFC 9728, RFC 8414) and registers a client there (RFC 7591).',
      body: MCP_DISCOVER,
      responses: { 200: PROVIDER },
      errors: [400, 409, 502],
    },
    async (auth, { call, body }) => ({
      body: presented(await auth.discoverProvider(given(body), baseUrlOf(auth, call))),
    }),
  ),
  authOperation(
    'GET /v2/auth/providers/{provider_id}',
    'Get OAuth Provider',
    { responses: { 200: PROVIDER }, errors: [404] },
    async (auth, { params }) => ({ body: presented(await auth.findProvider(params.provider_id)) }),
  ),
  authOperation(
    'PATCH /v2/auth/providers/{provider_id}',
    'Update OAuth Provider',
    { body: PATCH_PROVIDER, responses: { 200: PROVIDER }, errors: [400, 404] },
    async (auth, { params, body }) => ({
      body: presented(await auth.changeProvider(params.provider_id, given(body))),
    }),
  ),
  authOperation(
    'DELETE /v2/auth/providers/{provider_id}',
    'Delete OAuth Provider',
    {
      description: 'Revokes and removes the tokens of all users for it.',
      responses: { 200: MESSAGE },
      errors: [404],
    },
    async (auth, { params }) => {
      await auth.removeProvider(params.provider_id)
      return { body: { message: `OAuth provider ${params.provider_id} deleted.` } }
    },
  ),
  authOperation(
    'GET /v2/auth/platform-providers',
    'List Platform OAuth Providers',
    { responses: { 200: PROVIDERS } },
    async (auth) => ({ body: auth.platformProviders.map(presented) }),
  ),
  authOperation(
    'GET /v2/auth/platform-providers/{provider_id}',
    'Get Platform OAuth Provider',
    { responses: { 200: PROVIDER }, errors: [404] },
    async (auth, { params }) => {
      const found = auth.platformProviders.find(({ providerId }) => providerId === params.provider_id)
      if (!found) throw noProvider(params.provider_id)
      return { body: presented(found) }
    },
  ),
])
