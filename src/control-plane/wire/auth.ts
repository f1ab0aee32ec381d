import * as z from 'zod/mini'
import {
  BOOLEAN,
  described,
  INTEGER,
  JSON_OBJECT,
  NULL_STRING,
  NULL_UUID,
  OPT_FLAG,
  OPT_STRING,
  OPT_STRINGS,
  OPT_UUID,
  PASSWORD,
  STRING,
  STRINGS,
  TIME,
  titled,
} from './common.ts'

const FALSE = /* @__PURE__ */ z._default(BOOLEAN, false)
const PARAMETERS = /* @__PURE__ */ z.record(STRING, STRING)
const PROVIDER_TYPE = /* @__PURE__ */ z.nullable(z.enum(['microsoft', 'salesforce', 'slack']))
const CLIENT_AUTH = /* @__PURE__ */ z.enum(['none', 'client_secret_basic', 'client_secret_post'])
const PROVIDER_NAME = /* @__PURE__ */ STRING.check(z.minLength(1), z.maxLength(255))

export const PROVIDER = /* @__PURE__ */ titled('OAuthProviderResponse', {
  id: STRING,
  organization_id: NULL_UUID,
  provider_id: STRING,
  name: STRING,
  client_id: STRING,
  auth_url: STRING,
  token_url: STRING,
  uses_pkce: BOOLEAN,
  code_challenge_method: NULL_STRING,
  provider_type: PROVIDER_TYPE,
  token_endpoint_auth_method: CLIENT_AUTH,
  mcp_server_url: NULL_STRING,
  is_dynamic_client: BOOLEAN,
  authorization_params: z.optional(PARAMETERS),
  allowed_redirect_uris: z.optional(STRINGS),
  default_redirect_uri: OPT_STRING,
  created_at: TIME,
  updated_at: TIME,
})

export const PROVIDERS = /* @__PURE__ */ z.array(PROVIDER)

/** What is given of a provider, where it is not named differently when it is created and when it is changed. */
const PROVIDER_OPTIONS = {
  authorization_params: /* @__PURE__ */ z.nullish(PARAMETERS),
  allowed_redirect_uris: OPT_STRINGS,
  default_redirect_uri: OPT_STRING,
} as const

export const CREATE_PROVIDER = /* @__PURE__ */ titled('OAuthProviderCreateRequest', {
  provider_id: PROVIDER_NAME,
  name: STRING,
  client_id: STRING,
  client_secret: z.nullish(PASSWORD),
  auth_url: STRING,
  token_url: STRING,
  uses_pkce: FALSE,
  code_challenge_method: described(z._default(STRING, 'S256'), '`S256` or `plain`.'),
  provider_type: z.optional(PROVIDER_TYPE),
  token_endpoint_auth_method: z._default(CLIENT_AUTH, 'client_secret_post'),
  ...PROVIDER_OPTIONS,
})

export const PATCH_PROVIDER = /* @__PURE__ */ titled('OAuthProviderUpdateRequest', {
  name: OPT_STRING,
  client_id: OPT_STRING,
  client_secret: z.nullish(PASSWORD),
  auth_url: OPT_STRING,
  token_url: OPT_STRING,
  uses_pkce: OPT_FLAG,
  code_challenge_method: OPT_STRING,
  ...PROVIDER_OPTIONS,
})

export const MCP_DISCOVER = /* @__PURE__ */ titled('MCPDiscoverRequest', {
  provider_id: PROVIDER_NAME,
  name: STRING,
  mcp_server_url: STRING,
})

export const MESSAGE = /* @__PURE__ */ titled('MessageResponse', { message: STRING })

export const AUTHENTICATE = /* @__PURE__ */ titled('AuthenticateRequest', {
  provider: STRING,
  scopes: STRINGS,
  user_id: OPT_STRING,
  ls_user_id: OPT_STRING,
  agent_id: OPT_STRING,
  token_id: OPT_UUID,
  force_new: FALSE,
  is_default: z._default(BOOLEAN, true),
  use_agent_builder_public_oauth: FALSE,
  redirect_uri: OPT_STRING,
  check_only: FALSE,
})

export const AUTHENTICATED = /* @__PURE__ */ titled('AuthenticateResponse', {
  status: z.enum(['completed', 'pending', 'connection_required', 'token_expired']),
  url: OPT_STRING,
  auth_id: OPT_STRING,
  token: OPT_STRING,
  user_id: OPT_STRING,
  metadata: z.nullish(JSON_OBJECT),
})

export const WAIT_QUERY = /* @__PURE__ */ z.object({ timeout: z._default(INTEGER, 30) })

export const WAITED = /* @__PURE__ */ titled('WaitForCompletionResponse', {
  status: z.enum(['completed', 'pending', 'timeout', 'not_found']),
  token: OPT_STRING,
  error: z.nullish(described(STRING, 'Why the sign-in failed.')),
})

/** What a provider sends back with the browser. */
const CALLBACK = {
  code: /* @__PURE__ */ z.optional(PASSWORD),
  state: /* @__PURE__ */ z.optional(STRING),
  iss: /* @__PURE__ */ z.optional(STRING),
  error: /* @__PURE__ */ z.optional(STRING),
  error_description: /* @__PURE__ */ z.optional(STRING),
} as const

export const CALLBACK_QUERY = /* @__PURE__ */ z.object(CALLBACK)

export const SETUP_QUERY = /* @__PURE__ */ z.object({
  ...CALLBACK,
  setup_action: z.optional(STRING),
  installation_id: z.optional(INTEGER),
})

export const CALLBACK_BODY = /* @__PURE__ */ titled('OAuthCallbackRequest', {
  code: PASSWORD,
  state: STRING,
  iss: OPT_STRING,
})

export const CALLBACK_DONE = /* @__PURE__ */ titled('OAuthCallbackResponse', {
  status: z.literal('completed'),
  provider_id: STRING,
})
