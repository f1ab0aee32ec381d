import * as z from 'zod/mini'
import * as t from './common.ts'

const FALSE = z._default(t.BOOLEAN, false)
export const PARAMETERS = t.mapOf(t.STRING)
export const PROVIDER_TYPE = z.nullable(z.enum(['microsoft', 'salesforce', 'slack']))
export const CLIENT_AUTH = z.enum(['none', 'client_secret_basic', 'client_secret_post'])
const PROVIDER_NAME = t.text({ minLength: 1, maxLength: 255 })

/** Provider fields that have the same names when a provider is created and changed. */
const PROVIDER_OPTIONS = {
  authorization_params: z.nullish(PARAMETERS),
  allowed_redirect_uris: t.OPT_STRINGS,
  default_redirect_uri: t.OPT_STRING,
} as const

export const CREATE_PROVIDER = t.titled('OAuthProviderCreateRequest', {
  provider_id: PROVIDER_NAME,
  name: t.STRING,
  client_id: t.STRING,
  auth_url: t.STRING,
  token_url: t.STRING,
  client_secret: z.nullish(t.PASSWORD),
  uses_pkce: FALSE,
  code_challenge_method: t.described(z._default(t.STRING, 'S256'), '`S256` or `plain`.'),
  provider_type: z.optional(PROVIDER_TYPE),
  token_endpoint_auth_method: z._default(CLIENT_AUTH, 'client_secret_post'),
  ...PROVIDER_OPTIONS,
})

export const PATCH_PROVIDER = t.titled('OAuthProviderUpdateRequest', {
  name: t.OPT_STRING,
  client_id: t.OPT_STRING,
  client_secret: z.nullish(t.PASSWORD),
  auth_url: t.OPT_STRING,
  token_url: t.OPT_STRING,
  uses_pkce: t.OPT_FLAG,
  code_challenge_method: t.OPT_STRING,
  ...PROVIDER_OPTIONS,
})

export const MCP_DISCOVER = t.titled('MCPDiscoverRequest', {
  provider_id: PROVIDER_NAME,
  name: t.STRING,
  mcp_server_url: t.STRING,
})

export const MESSAGE = t.titled('MessageResponse', { message: t.STRING })

export const AUTHENTICATE = t.titled('AuthenticateRequest', {
  provider: t.STRING,
  scopes: t.STRINGS,
  user_id: t.OPT_STRING,
  ls_user_id: t.OPT_STRING,
  agent_id: t.OPT_STRING,
  token_id: t.OPT_UUID,
  force_new: FALSE,
  is_default: z._default(t.BOOLEAN, true),
  use_agent_builder_public_oauth: FALSE,
  redirect_uri: t.OPT_STRING,
  check_only: FALSE,
})

export const SCOPES = z._default(t.STRINGS, [])

export const PATCH_TOKEN = t.titled('TokenMetadataUpdateRequest', {
  provider_account_label: t.OPT_STRING,
  is_default: t.OPT_FLAG,
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
