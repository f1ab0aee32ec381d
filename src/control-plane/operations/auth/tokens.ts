import { tagged } from '../../api/route.ts'
import type { Connection, Token } from '../../auth/service.ts'
import { present } from '../../present/present.ts'
import { MESSAGE } from '../../wire/auth.ts'
import { given } from '../../wire/common.ts'
import {
  CONNECTION,
  CONNECTIONS,
  CREATE_CONNECTION,
  HAS_TOKEN,
  HAS_TOKENS,
  HAS_TOKENS_QUERY,
  IMPORT_TOKEN,
  IMPORTED_TOKEN,
  OF_ONE_PROVIDER,
  OF_PROVIDER,
  PATCH_TOKEN,
  TOKEN_EVENT,
  TOKEN_EVENTS,
  TOKEN_EVENTS_QUERY,
  TOKEN_SUMMARIES,
  TOKEN_SUMMARY,
  TOKENS_DELETED,
} from '../../wire/tokens.ts'
import { AUTH_TAG, authRoute } from './service.ts'

const presentToken = ({ record, isDefault }: Token) =>
  present(TOKEN_SUMMARY, { ...record, providerAccountLabel: record.accountLabel, isDefault })

export const tokenOperations = tagged(AUTH_TAG, [
  authRoute('GET', '/v2/auth/tokens', {
    summary: 'List OAuth Tokens',
    description: "The caller's own tokens, without their values.",
    query: OF_PROVIDER,
    answers: { 200: TOKEN_SUMMARIES },
    run: async (auth, { query }) => ({ body: (await auth.listTokens(query.provider_id)).map(presentToken) }),
  }),
  authRoute('DELETE', '/v2/auth/tokens', {
    summary: 'Delete OAuth Tokens',
    description: "Revokes and removes the caller's own tokens for a provider.",
    query: OF_ONE_PROVIDER,
    answers: { 200: TOKENS_DELETED },
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
      body: presentToken(await auth.changeToken(params.token_id, given(body))),
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
    body: HAS_TOKENS_QUERY,
    answers: { 200: HAS_TOKENS },
    run: async (auth, { body }) => {
      const tokens = await auth.listTokens(undefined)
      const known = new Set(tokens.map(({ record }) => record.providerId))
      return { body: { has_token: Object.fromEntries(body.provider_ids.map((id) => [id, known.has(id)])) } }
    },
  }),
  authRoute('POST', '/v2/auth/tokens/import', {
    summary: 'Import OAuth Token',
    body: IMPORT_TOKEN,
    answers: { 200: IMPORTED_TOKEN },
    errors: [404],
    run: async (auth, { body }) => ({ body: { token_id: await auth.importToken(given(body)) } }),
  }),
  authRoute('GET', '/v2/auth/token-events', {
    summary: 'List Token Events',
    description: "What happened to the caller's own tokens, newest first.",
    query: TOKEN_EVENTS_QUERY,
    answers: { 200: TOKEN_EVENTS },
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
    answers: { 200: CONNECTIONS },
    run: async (auth, { params }) => ({
      body: { data: (await auth.listConnections(params.agent_id)).map(presentConnection) },
    }),
  }),
  authRoute('POST', '/v2/auth/agents/:agent_id/connections', {
    summary: 'Create Agent Connection',
    description:
      "Lets an agent use one of the caller's own tokens. `authenticate` with this `agent_id` gives it.",
    body: CREATE_CONNECTION,
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
