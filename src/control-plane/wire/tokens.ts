import * as z from 'zod/mini'
import {
  BOOLEAN,
  JSON_OBJECT,
  limited,
  NULL_STRING,
  NULL_TIME,
  OPT_FLAG,
  OPT_STRING,
  OPT_TIME,
  PASSWORD,
  STRING,
  STRINGS,
  TIME,
  titled,
  UUID,
} from './common.ts'

const SCOPES = /* @__PURE__ */ z._default(STRINGS, [])

export const TOKEN_SUMMARY = /* @__PURE__ */ titled('OAuthTokenSummary', {
  id: STRING,
  provider_id: STRING,
  provider_account_label: OPT_STRING,
  scopes: SCOPES,
  expires_at: OPT_TIME,
  is_default: z._default(BOOLEAN, false),
  created_at: TIME,
  updated_at: TIME,
})

export const TOKEN_SUMMARIES = /* @__PURE__ */ z.array(TOKEN_SUMMARY)

export const OF_PROVIDER = /* @__PURE__ */ z.object({ provider_id: OPT_STRING })
export const OF_ONE_PROVIDER = /* @__PURE__ */ z.object({ provider_id: STRING })

export const PATCH_TOKEN = /* @__PURE__ */ titled('TokenMetadataUpdateRequest', {
  provider_account_label: OPT_STRING,
  is_default: OPT_FLAG,
})

export const TOKENS_DELETED = /* @__PURE__ */ titled('TokensDeletedResponse', {
  message: STRING,
  provider_id: STRING,
})

export const HAS_TOKEN = /* @__PURE__ */ titled('TokenExistsResponse', { has_token: BOOLEAN })

export const HAS_TOKENS_QUERY = /* @__PURE__ */ titled('TokenExistsBatchRequest', {
  provider_ids: z.array(STRING).check(z.maxLength(1000)),
})

export const HAS_TOKENS = /* @__PURE__ */ titled('TokenExistsBatchResponse', {
  has_token: z.record(STRING, BOOLEAN),
})

export const IMPORT_TOKEN = /* @__PURE__ */ titled('TokenImportRequest', {
  provider_id: STRING,
  access_token: PASSWORD,
  refresh_token: z.nullish(PASSWORD),
  expires_in_seconds: z.nullish(z.int().check(z.gte(0), z.lte(10_000_000_000))),
  scopes: SCOPES,
  metadata: z.nullish(JSON_OBJECT),
  is_default: z._default(BOOLEAN, true),
})

export const IMPORTED_TOKEN = /* @__PURE__ */ titled('TokenImportResponse', { token_id: STRING })

export const TOKEN_EVENTS_QUERY = /* @__PURE__ */ z.object({
  provider_id: OPT_STRING,
  limit: limited(200, 50),
})

export const TOKEN_EVENT = /* @__PURE__ */ titled('TokenEvent', {
  id: STRING,
  provider_id: STRING,
  event_type: STRING,
  created_at: TIME,
  agent_id: OPT_STRING,
  reason: OPT_STRING,
  source: OPT_STRING,
  provider_account_label: OPT_STRING,
  scopes: SCOPES,
  detail: OPT_STRING,
  acknowledged_at: OPT_TIME,
})

export const TOKEN_EVENTS = /* @__PURE__ */ z.array(TOKEN_EVENT)

export const CONNECTION = /* @__PURE__ */ titled('AgentConnection', {
  id: UUID,
  agent_id: STRING,
  oauth_token_id: STRING,
  provider_id: STRING,
  provider_account_label: NULL_STRING,
  scopes: STRINGS,
  expires_at: NULL_TIME,
  created_by: NULL_STRING,
  created_at: TIME,
})

export const CONNECTIONS = /* @__PURE__ */ titled('AgentConnectionsResponse', { data: z.array(CONNECTION) })

export const CREATE_CONNECTION = /* @__PURE__ */ titled('AgentConnectionCreateRequest', {
  oauth_token_id: STRING,
})
