import type { Json } from '../../../storage/index.ts'
import { operation } from '../../api/operation.ts'
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
import { AUTH_TAG, authOf, callerOf, given } from './service.ts'

export const listTokens = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/tokens',
    tag: AUTH_TAG,
    summary: 'List OAuth Tokens',
    description: "The caller's own tokens, without their values.",
    query: OF_PROVIDER,
    responses: { 200: TOKEN_SUMMARIES },
  },
  async (context, { call, query }) => {
    const tokens = await authOf(context).listTokens(callerOf(call.principal), given(query.provider_id))
    return { body: tokens.map(presentToken) }
  },
)

export const deleteTokens = /* @__PURE__ */ operation(
  {
    method: 'DELETE',
    path: '/v2/auth/tokens',
    tag: AUTH_TAG,
    summary: 'Delete OAuth Tokens',
    description: "Revokes and removes the caller's own tokens for a provider.",
    query: OF_ONE_PROVIDER,
    responses: { 200: TOKENS_DELETED },
  },
  async (context, { call, query }) => {
    const providerId = query.provider_id
    const count = await authOf(context).removeTokens(callerOf(call.principal), providerId)
    return { body: { message: `Tokens deleted: ${count}.`, provider_id: providerId } }
  },
)

export const patchToken = /* @__PURE__ */ operation(
  {
    method: 'PATCH',
    path: '/v2/auth/tokens/{token_id}/metadata',
    tag: AUTH_TAG,
    summary: 'Update OAuth Token Metadata',
    body: PATCH_TOKEN,
    responses: { 200: TOKEN_SUMMARY, 404: ERROR },
  },
  async (context, { call, params, body }) => {
    const change = { accountLabel: given(body.provider_account_label), isDefault: given(body.is_default) }
    const token = await authOf(context).changeToken(callerOf(call.principal), params.token_id, change)
    return { body: presentToken(token) }
  },
)

export const deleteToken = /* @__PURE__ */ operation(
  {
    method: 'DELETE',
    path: '/v2/auth/tokens/{token_id}',
    tag: AUTH_TAG,
    summary: 'Delete OAuth Token',
    description:
      'Revokes it at the provider first (RFC 7009). A failure of that is told in the token events.',
    responses: { 204: null, 404: ERROR },
  },
  async (context, { call, params }) => {
    await authOf(context).removeToken(callerOf(call.principal), params.token_id)
    return {}
  },
)

export const tokenExists = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/tokens/exists',
    tag: AUTH_TAG,
    summary: 'Check OAuth Token Exists',
    query: OF_ONE_PROVIDER,
    responses: { 200: HAS_TOKEN },
  },
  async (context, { call, query }) => {
    const ids = [query.provider_id]
    const found = await authOf(context).providersWithToken(callerOf(call.principal), ids)
    return { body: { has_token: found.size > 0 } }
  },
)

export const tokensExist = /* @__PURE__ */ operation(
  {
    method: 'POST',
    path: '/v2/auth/tokens/exists/batch',
    tag: AUTH_TAG,
    summary: 'Check OAuth Tokens Exist',
    body: HAS_TOKENS_QUERY,
    responses: { 200: HAS_TOKENS },
  },
  async (context, { call, body }) => {
    const ids = body.provider_ids
    const found = await authOf(context).providersWithToken(callerOf(call.principal), ids)
    return { body: { has_token: Object.fromEntries(ids.map((id) => [id, found.has(id)])) } }
  },
)

export const importToken = /* @__PURE__ */ operation(
  {
    method: 'POST',
    path: '/v2/auth/tokens/import',
    tag: AUTH_TAG,
    summary: 'Import OAuth Token',
    body: IMPORT_TOKEN,
    responses: { 200: IMPORTED_TOKEN, 404: ERROR },
  },
  async (context, { call, body }) => {
    const tokenId = await authOf(context).importToken(callerOf(call.principal), {
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
)

export const listTokenEvents = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/token-events',
    tag: AUTH_TAG,
    summary: 'List Token Events',
    description: "What happened to the caller's own tokens, newest first.",
    query: TOKEN_EVENTS_QUERY,
    responses: { 200: TOKEN_EVENTS },
  },
  async (context, { call, query }) => {
    const caller = callerOf(call.principal)
    const events = await authOf(context).listEvents(caller, given(query.provider_id), query.limit)
    return { body: events.map(presentTokenEvent) }
  },
)

export const slackExists = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/auth/tokens/workspace/slack/exists',
    tag: AUTH_TAG,
    summary: 'Check Workspace Slack Token Exists',
    responses: { 200: HAS_TOKEN },
  },
  async (context, { call }) => {
    const hasToken = await authOf(context).hasWorkspaceToken(callerOf(call.principal).owner)
    return { body: { has_token: hasToken } }
  },
)

export const deleteSlack = /* @__PURE__ */ operation(
  {
    method: 'DELETE',
    path: '/v2/auth/tokens/workspace/slack',
    tag: AUTH_TAG,
    summary: 'Delete Workspace Slack Token',
    responses: { 200: MESSAGE, 404: ERROR },
  },
  async (context, { call }) => {
    await authOf(context).removeWorkspaceToken(callerOf(call.principal).owner)
    return { body: { message: 'The Slack token of the workspace was deleted.' } }
  },
)
