import * as z from 'zod/mini'
import * as t from './common.ts'

const SCOPES = z._default(t.STRINGS, [])

export const TOKEN_SUMMARY = t.titled('OAuthTokenSummary', {
  id: t.STRING,
  provider_id: t.STRING,
  provider_account_label: t.OPT_STRING,
  scopes: SCOPES,
  expires_at: t.OPT_TIME,
  is_default: z._default(t.BOOLEAN, false),
  created_at: t.TIME,
  updated_at: t.TIME,
})

export const TOKEN_SUMMARIES = t.list(TOKEN_SUMMARY)

export const OF_PROVIDER = z.object({ provider_id: t.OPT_STRING })
export const OF_ONE_PROVIDER = z.object({ provider_id: t.STRING })

export const PATCH_TOKEN = t.titled('TokenMetadataUpdateRequest', {
  provider_account_label: t.OPT_STRING,
  is_default: t.OPT_FLAG,
})

export const TOKENS_DELETED = t.titled('TokensDeletedResponse', {
  message: t.STRING,
  provider_id: t.STRING,
})

export const HAS_TOKEN = t.titled('TokenExistsResponse', { has_token: t.BOOLEAN })

export const HAS_TOKENS_QUERY = t.titled('TokenExistsBatchRequest', {
  provider_ids: t.list(t.STRING, { maxItems: 1000 }),
})

export const HAS_TOKENS = t.titled('TokenExistsBatchResponse', {
  has_token: t.mapOf(t.BOOLEAN),
})

export const IMPORT_TOKEN = t.titled('TokenImportRequest', {
  provider_id: t.STRING,
  access_token: t.PASSWORD,
  refresh_token: z.nullish(t.PASSWORD),
  expires_in_seconds: z.nullish(t.integer({ minimum: 0, maximum: 10_000_000_000 })),
  scopes: SCOPES,
  metadata: z.nullish(t.JSON_OBJECT),
  is_default: z._default(t.BOOLEAN, true),
})

export const IMPORTED_TOKEN = t.titled('TokenImportResponse', { token_id: t.STRING })

export const TOKEN_EVENTS_QUERY = z.object({
  provider_id: t.OPT_STRING,
  limit: t.limited(200, 50),
})

export const TOKEN_EVENT = t.titled('TokenEvent', {
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

export const TOKEN_EVENTS = t.list(TOKEN_EVENT)

export const CONNECTION = t.titled('AgentConnection', {
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

export const CONNECTIONS = t.titled('AgentConnectionsResponse', { data: t.list(CONNECTION) })

export const CREATE_CONNECTION = t.titled('AgentConnectionCreateRequest', {
  oauth_token_id: t.STRING,
})
