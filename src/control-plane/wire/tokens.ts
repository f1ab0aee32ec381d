import { nullable } from '../schema/json-schema.ts'
import { NULLABLE_STRING, STRING, TIME, UUID } from './common.ts'

const BOOLEAN = { type: 'boolean' } as const
const STRINGS = { type: 'array', items: STRING } as const
const SCOPES = { ...STRINGS, default: [] } as const
const NULLABLE_TIME = /* @__PURE__ */ nullable(TIME)

export const TOKEN_SUMMARY = {
  title: 'OAuthTokenSummary',
  type: 'object',
  properties: {
    id: STRING,
    provider_id: STRING,
    provider_account_label: NULLABLE_STRING,
    scopes: SCOPES,
    expires_at: NULLABLE_TIME,
    is_default: { type: 'boolean', default: false },
    created_at: TIME,
    updated_at: TIME,
  },
  required: ['id', 'provider_id', 'created_at', 'updated_at'],
} as const

export const TOKEN_SUMMARIES = { type: 'array', items: TOKEN_SUMMARY } as const

export const OF_PROVIDER = { properties: { provider_id: NULLABLE_STRING } } as const
export const OF_ONE_PROVIDER = { properties: { provider_id: STRING }, required: ['provider_id'] } as const

export const PATCH_TOKEN = {
  title: 'TokenMetadataUpdateRequest',
  type: 'object',
  properties: { provider_account_label: NULLABLE_STRING, is_default: /* @__PURE__ */ nullable(BOOLEAN) },
} as const

export const TOKENS_DELETED = {
  title: 'TokensDeletedResponse',
  type: 'object',
  properties: { message: STRING, provider_id: STRING },
  required: ['message', 'provider_id'],
} as const

export const HAS_TOKEN = {
  title: 'TokenExistsResponse',
  type: 'object',
  properties: { has_token: BOOLEAN },
  required: ['has_token'],
} as const

export const HAS_TOKENS_QUERY = {
  title: 'TokenExistsBatchRequest',
  type: 'object',
  properties: { provider_ids: { type: 'array', items: STRING, maxItems: 1000 } },
  required: ['provider_ids'],
} as const

export const HAS_TOKENS = {
  title: 'TokenExistsBatchResponse',
  type: 'object',
  properties: { has_token: { type: 'object', additionalProperties: BOOLEAN } },
  required: ['has_token'],
} as const

export const IMPORT_TOKEN = {
  title: 'TokenImportRequest',
  type: 'object',
  properties: {
    provider_id: STRING,
    access_token: { type: 'string', format: 'password' },
    refresh_token: /* @__PURE__ */ nullable({ type: 'string', format: 'password' }),
    expires_in_seconds: /* @__PURE__ */ nullable({ type: 'integer', minimum: 0, maximum: 10_000_000_000 }),
    scopes: SCOPES,
    metadata: /* @__PURE__ */ nullable({ type: 'object' }),
    is_default: { type: 'boolean', default: true },
  },
  required: ['provider_id', 'access_token'],
} as const

export const IMPORTED_TOKEN = {
  title: 'TokenImportResponse',
  type: 'object',
  properties: { token_id: STRING },
  required: ['token_id'],
} as const

export const TOKEN_EVENTS_QUERY = {
  properties: {
    provider_id: NULLABLE_STRING,
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  },
} as const

export const TOKEN_EVENTS = {
  type: 'array',
  items: {
    title: 'TokenEvent',
    type: 'object',
    properties: {
      id: STRING,
      provider_id: STRING,
      event_type: STRING,
      created_at: TIME,
      agent_id: NULLABLE_STRING,
      reason: NULLABLE_STRING,
      source: NULLABLE_STRING,
      provider_account_label: NULLABLE_STRING,
      scopes: SCOPES,
      detail: NULLABLE_STRING,
      acknowledged_at: NULLABLE_TIME,
    },
    required: ['id', 'provider_id', 'event_type', 'created_at'],
  },
} as const

export const CONNECTION = {
  title: 'AgentConnection',
  type: 'object',
  properties: {
    id: UUID,
    agent_id: STRING,
    oauth_token_id: STRING,
    provider_id: STRING,
    provider_account_label: NULLABLE_STRING,
    scopes: STRINGS,
    expires_at: NULLABLE_TIME,
    created_by: NULLABLE_STRING,
    created_at: TIME,
  },
  required: [
    'id',
    'agent_id',
    'oauth_token_id',
    'provider_id',
    'provider_account_label',
    'scopes',
    'expires_at',
    'created_by',
    'created_at',
  ],
} as const

export const CONNECTIONS = {
  title: 'AgentConnectionsResponse',
  type: 'object',
  properties: { data: { type: 'array', items: CONNECTION } },
  required: ['data'],
} as const

export const CREATE_CONNECTION = {
  title: 'AgentConnectionCreateRequest',
  type: 'object',
  properties: { oauth_token_id: STRING },
  required: ['oauth_token_id'],
} as const
