import * as z from 'zod/mini'
import { tagged } from '../../api/route.ts'
import type { Connection, Token } from '../../auth/service.ts'
import { present } from '../../present.ts'
import { IMPORT_TOKEN, MESSAGE, PATCH_TOKEN, SCOPES } from '../../wire/auth.ts'
import * as t from '../../wire/common.ts'
import { AUTH_TAG, authRoute } from './service.ts'

const TOKEN_SUMMARY = t.titled('OAuthTokenSummary', {
  id: t.STRING,
  provider_id: t.STRING,
  provider_account_label: t.OPT_STRING,
  scopes: SCOPES,
  expires_at: t.OPT_TIME,
  is_default: z._default(t.BOOLEAN, false),
  created_at: t.TIME,
  updated_at: t.TIME,
})

const HAS_TOKEN = t.titled('TokenExistsResponse', { has_token: t.BOOLEAN })

const OF_ONE_PROVIDER = z.object({ provider_id: t.STRING })

const CONNECTION = t.titled('AgentConnection', {
  id: t.UUID,
  agent_id: t.STRING,
  oauth_token_id: t.STRING,
  provider_id: t.STRING,
  provider_account_label: t.NULL_STRING,
  scopes: t.STRINGS,
  expires_at: t.NULL_TIME,
  created_by: t.NULL_STRING,
  created_at: t.TIME,
})

const TOKEN_EVENT = t.titled('TokenEvent', {
  id: t.STRING,
  provider_id: t.STRING,
  event_type: t.STRING,
  created_at: t.TIME,
  agent_id: t.OPT_STRING,
  reason: t.OPT_STRING,
  source: t.OPT_STRING,
  provider_account_label: t.OPT_STRING,
  scopes: SCOPES,
  detail: t.OPT_STRING,
  acknowledged_at: t.OPT_TIME,
})

const presentToken = ({ record, isDefault }: Token) =>
  present(TOKEN_SUMMARY, { ...record, providerAccountLabel: record.accountLabel, isDefault })

export const tokenOperations = tagged(AUTH_TAG, [
  authRoute('GET', '/v2/auth/tokens', {
    summary: 'List OAuth Tokens',
    description: "The caller's own tokens, without their values.",
    query: z.object({ provider_id: t.OPT_STRING }),
    answers: { 200: t.list(TOKEN_SUMMARY) },
    run: async (auth, { query }) => ({ body: (await auth.listTokens(query.provider_id)).map(presentToken) }),
  }),
  authRoute('DELETE', '/v2/auth/tokens', {
    summary: 'Delete OAuth Tokens',
    description: "Revokes and removes the caller's own tokens for a provider.",
    query: OF_ONE_PROVIDER,
    answers: {
      200: t.titled('TokensDeletedResponse', {
        message: t.STRING,
        provider_id: t.STRING,
      }),
    },
    run: async (auth, { query: { provider_id } }) => {
      const count = await auth.removeTokens(provider_id)
      return { body: { message: `Tokens deleted: ${count}.`, provider_id } }
    },
  }),
  authRoute('PATCH', '/v2/auth/tokens/:token_id/metadata', {
    summary: 'Update OAuth Token Metadata',
    body: PATCH_TOKEN,
    answers: { 200: TOKEN_SUMMARY },
    errors: [404],
    run: async (auth, { params, body }) => ({
      body: presentToken(await auth.changeToken(params.token_id, t.given(body))),
    }),
  }),
  authRoute('DELETE', '/v2/auth/tokens/:token_id', {
    summary: 'Delete OAuth Token',
    description:
      'Revokes it at the provider first (RFC 7009). A failure of that is told in the token events.',
    answers: { 204: null },
    errors: [404],
    run: async (auth, { params }) => {
      await auth.removeToken(params.token_id)
      return {}
    },
  }),
  authRoute('GET', '/v2/auth/tokens/exists', {
    summary: 'Check OAuth Token Exists',
    query: OF_ONE_PROVIDER,
    answers: { 200: HAS_TOKEN },
    run: async (auth, { query: { provider_id } }) => ({
      body: { has_token: (await auth.listTokens(provider_id)).length > 0 },
    }),
  }),
  authRoute('POST', '/v2/auth/tokens/exists/batch', {
    summary: 'Check OAuth Tokens Exist',
    body: t.titled('TokenExistsBatchRequest', {
      provider_ids: t.list(t.STRING, { maxItems: 1000 }),
    }),
    answers: {
      200: t.titled('TokenExistsBatchResponse', {
        has_token: t.mapOf(t.BOOLEAN),
      }),
    },
    run: async (auth, { body }) => {
      const tokens = await auth.listTokens(undefined)
      const known = new Set(tokens.map(({ record }) => record.providerId))
      return { body: { has_token: Object.fromEntries(body.provider_ids.map((id) => [id, known.has(id)])) } }
    },
  }),
  authRoute('POST', '/v2/auth/tokens/import', {
    summary: 'Import OAuth Token',
    body: IMPORT_TOKEN,
    answers: { 200: t.titled('TokenImportResponse', { token_id: t.STRING }) },
    errors: [404],
    run: async (auth, { body }) => ({ body: { token_id: await auth.importToken(t.given(body)) } }),
  }),
  authRoute('GET', '/v2/auth/token-events', {
    summary: 'List Token Events',
    description: "What happened to the caller's own tokens, newest first.",
    query: z.object({
      provider_id: t.OPT_STRING,
      limit: t.limited(200, 50),
    }),
    answers: { 200: t.list(TOKEN_EVENT) },
    run: async (auth, { query }) => {
      const events = await auth.listEvents(query.provider_id, query.limit)
      return {
        body: events.map(({ type: eventType, accountLabel: providerAccountLabel, ...event }) =>
          present(TOKEN_EVENT, { ...event, eventType, providerAccountLabel, source: 'control_plane' }),
        ),
      }
    },
  }),
  authRoute('GET', '/v2/auth/tokens/workspace/slack/exists', {
    summary: 'Check Workspace Slack Token Exists',
    answers: { 200: HAS_TOKEN },
    run: async (auth) => ({ body: { has_token: await auth.hasWorkspaceToken() } }),
  }),
  authRoute('DELETE', '/v2/auth/tokens/workspace/slack', {
    summary: 'Delete Workspace Slack Token',
    answers: { 200: MESSAGE },
    errors: [404],
    run: async (auth) => {
      await auth.removeWorkspaceToken()
      return { body: { message: 'The Slack token of the workspace was deleted.' } }
    },
  }),
])

const presentConnection = ({ record, token }: Connection) =>
  present(CONNECTION, {
    ...record,
    oauthTokenId: record.tokenId,
    providerId: token.providerId,
    providerAccountLabel: token.accountLabel,
    scopes: token.scopes,
    expiresAt: token.expiresAt,
  })

export const connectionOperations = tagged('Agent Connections (v2)', [
  authRoute('GET', '/v2/auth/agents/:agent_id/connections', {
    summary: 'List Agent Connections',
    description: "The caller's own.",
    answers: { 200: t.titled('AgentConnectionsResponse', { data: t.list(CONNECTION) }) },
    run: async (auth, { params }) => ({
      body: { data: (await auth.listConnections(params.agent_id)).map(presentConnection) },
    }),
  }),
  authRoute('POST', '/v2/auth/agents/:agent_id/connections', {
    summary: 'Create Agent Connection',
    description:
      "Lets an agent use one of the caller's own tokens. `authenticate` with this `agent_id` gives it.",
    body: t.titled('AgentConnectionCreateRequest', {
      oauth_token_id: t.STRING,
    }),
    answers: { 201: CONNECTION },
    errors: [404],
    run: async (auth, { params, body }) => ({
      body: presentConnection(await auth.connect(params.agent_id, body.oauth_token_id)),
    }),
  }),
  authRoute('DELETE', '/v2/auth/agents/:agent_id/connections/:connection_id', {
    summary: 'Delete Agent Connection',
    answers: { 204: null },
    errors: [404],
    run: async (auth, { params }) => {
      await auth.disconnect(params.agent_id, params.connection_id)
      return {}
    },
  }),
])
