import type { Json } from '../../../storage/index.ts'
import { tagged } from '../../api/operation.ts'
import { presentToken, presentTokenEvent } from '../../present/auth.ts'
import { MESSAGE } from '../../wire/auth.ts'
import { ERROR } from '../../wire/common.ts'
import {
  HAS_TOKEN,
  HAS_TOKENS,
  HAS_TOKENS_QUERY,
  IMPORT_TOKEN,
  IMPORTED_TOKEN,
  OF_ONE_PROVIDER,
  OF_PROVIDER,
  PATCH_TOKEN,
  TOKEN_EVENTS,
  TOKEN_EVENTS_QUERY,
  TOKEN_SUMMARIES,
  TOKEN_SUMMARY,
  TOKENS_DELETED,
} from '../../wire/tokens.ts'
import { AUTH_TAG, authOperation, given } from './service.ts'

export const tokenOperations = /* @__PURE__ */ tagged(AUTH_TAG, [
  authOperation(
    'GET /v2/auth/tokens',
    'List OAuth Tokens',
    {
      description: "The caller's own tokens, without their values.",
      query: OF_PROVIDER,
      responses: { 200: TOKEN_SUMMARIES },
    },
    async (auth, caller, { query }) => ({
      body: (await auth.listTokens(caller, given(query.provider_id))).map(presentToken),
    }),
  ),
  authOperation(
    'DELETE /v2/auth/tokens',
    'Delete OAuth Tokens',
    {
      description: "Revokes and removes the caller's own tokens for a provider.",
      query: OF_ONE_PROVIDER,
      responses: { 200: TOKENS_DELETED },
    },
    async (auth, caller, { query }) => {
      const providerId = query.provider_id
      const count = await auth.removeTokens(caller, providerId)
      return { body: { message: `Tokens deleted: ${count}.`, provider_id: providerId } }
    },
  ),
  authOperation(
    'PATCH /v2/auth/tokens/{token_id}/metadata',
    'Update OAuth Token Metadata',
    {
      body: PATCH_TOKEN,
      responses: { 200: TOKEN_SUMMARY, 404: ERROR },
    },
    async (auth, caller, { params, body }) => {
      const change = { accountLabel: given(body.provider_account_label), isDefault: given(body.is_default) }
      const token = await auth.changeToken(caller, params.token_id, change)
      return { body: presentToken(token) }
    },
  ),
  authOperation(
    'DELETE /v2/auth/tokens/{token_id}',
    'Delete OAuth Token',
    {
      description:
        'Revokes it at the provider first (RFC 7009). A failure of that is told in the token events.',
      responses: { 204: null, 404: ERROR },
    },
    async (auth, caller, { params }) => {
      await auth.removeToken(caller, params.token_id)
      return {}
    },
  ),
  authOperation(
    'GET /v2/auth/tokens/exists',
    'Check OAuth Token Exists',
    {
      query: OF_ONE_PROVIDER,
      responses: { 200: HAS_TOKEN },
    },
    async (auth, caller, { query }) => {
      const ids = [query.provider_id]
      const found = await auth.providersWithToken(caller, ids)
      return { body: { has_token: found.size > 0 } }
    },
  ),
  authOperation(
    'POST /v2/auth/tokens/exists/batch',
    'Check OAuth Tokens Exist',
    {
      body: HAS_TOKENS_QUERY,
      responses: { 200: HAS_TOKENS },
    },
    async (auth, caller, { body }) => {
      const ids = body.provider_ids
      const found = await auth.providersWithToken(caller, ids)
      return { body: { has_token: Object.fromEntries(ids.map((id) => [id, found.has(id)])) } }
    },
  ),
  authOperation(
    'POST /v2/auth/tokens/import',
    'Import OAuth Token',
    {
      body: IMPORT_TOKEN,
      responses: { 200: IMPORTED_TOKEN, 404: ERROR },
    },
    async (auth, caller, { body }) => {
      const tokenId = await auth.importToken(caller, {
        providerId: body.provider_id,
        accessToken: body.access_token,
        refreshToken: given(body.refresh_token),
        expiresInSeconds: given(body.expires_in_seconds),
        scopes: body.scopes,
        metadata: (body.metadata as { readonly [key: string]: Json } | null | undefined) ?? null,
        isDefault: body.is_default,
      })
      return { body: { token_id: tokenId } }
    },
  ),
  authOperation(
    'GET /v2/auth/token-events',
    'List Token Events',
    {
      description: "What happened to the caller's own tokens, newest first.",
      query: TOKEN_EVENTS_QUERY,
      responses: { 200: TOKEN_EVENTS },
    },
    async (auth, caller, { query }) => ({
      body: (await auth.listEvents(caller, given(query.provider_id), query.limit)).map(presentTokenEvent),
    }),
  ),
  authOperation(
    'GET /v2/auth/tokens/workspace/slack/exists',
    'Check Workspace Slack Token Exists',
    {
      responses: { 200: HAS_TOKEN },
    },
    async (auth, caller) => {
      const hasToken = await auth.hasWorkspaceToken(caller.owner)
      return { body: { has_token: hasToken } }
    },
  ),
  authOperation(
    'DELETE /v2/auth/tokens/workspace/slack',
    'Delete Workspace Slack Token',
    {
      responses: { 200: MESSAGE, 404: ERROR },
    },
    async (auth, caller) => {
      await auth.removeWorkspaceToken(caller.owner)
      return { body: { message: 'The Slack token of the workspace was deleted.' } }
    },
  ),
])
