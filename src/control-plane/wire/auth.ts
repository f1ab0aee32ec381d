import * as z from 'zod/mini'
import * as t from './common.ts'

const FALSE = z._default(t.BOOLEAN, false)
const PARAMETERS = t.mapOf(t.STRING)
const PROVIDER_TYPE = z.nullable(z.enum(['microsoft', 'salesforce', 'slack']))
const CLIENT_AUTH = z.enum(['none', 'client_secret_basic', 'client_secret_post'])
const PROVIDER_NAME = t.text({ minLength: 1, maxLength: 255 })

export const PROVIDER = t.titled('OAuthProviderResponse', {
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

export const PROVIDERS = t.list(PROVIDER)

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

export const AUTHENTICATED = t.titled('AuthenticateResponse', {
  status: z.enum(['completed', 'pending', 'connection_required', 'token_expired']),
  url: t.OPT_STRING,
  auth_id: t.OPT_STRING,
  token: t.OPT_STRING,
  user_id: t.OPT_STRING,
  metadata: z.nullish(t.JSON_OBJECT),
})

export const WAIT_QUERY = z.object({ timeout: z._default(t.INTEGER, 30) })

export const WAITED = t.titled('WaitForCompletionResponse', {
  status: z.enum(['completed', 'pending', 'timeout', 'not_found']),
  token: t.OPT_STRING,
  error: z.nullish(t.described(t.STRING, 'Why the sign-in failed.')),
})

/** What a provider sends back with the browser. */
const CALLBACK = {
  code: z.optional(t.PASSWORD),
  state: z.optional(t.STRING),
  iss: z.optional(t.STRING),
  error: z.optional(t.STRING),
  error_description: z.optional(t.STRING),
} as const

export const CALLBACK_QUERY = z.object(CALLBACK)

export const SETUP_QUERY = z.object({
  ...CALLBACK,
  setup_action: z.optional(t.STRING),
  installation_id: z.optional(t.INTEGER),
})

export const CALLBACK_BODY = t.titled('OAuthCallbackRequest', {
  code: t.PASSWORD,
  state: t.STRING,
  iss: t.OPT_STRING,
})

export const CALLBACK_DONE = t.titled('OAuthCallbackResponse', {
  status: z.literal('completed'),
  provider_id: t.STRING,
})
