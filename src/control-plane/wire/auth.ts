import { nullable } from '../schema/json-schema.ts'
import { NULLABLE_STRING, NULLABLE_UUID, STRING, TIME } from './common.ts'

const STRINGS = { type: 'array', items: STRING } as const
const BOOLEAN = { type: 'boolean' } as const
const FALSE = { type: 'boolean', default: false } as const
const TRUE = { type: 'boolean', default: true } as const
/** What no error may show. */
const PASSWORD = { type: 'string', format: 'password' } as const
const NULLABLE_PASSWORD = /* @__PURE__ */ nullable(PASSWORD)
const NULLABLE_STRINGS = /* @__PURE__ */ nullable(STRINGS)
const PARAMETERS = { type: 'object', additionalProperties: STRING } as const

const PROVIDER_TYPE = /* @__PURE__ */ nullable({
  type: 'string',
  enum: ['microsoft', 'salesforce', 'slack'],
})
const CLIENT_AUTH = {
  type: 'string',
  enum: ['none', 'client_secret_basic', 'client_secret_post'],
} as const
const PROVIDER_NAME = { type: 'string', minLength: 1, maxLength: 255 } as const

export const PROVIDER = {
  title: 'OAuthProviderResponse',
  type: 'object',
  properties: {
    id: STRING,
    organization_id: NULLABLE_UUID,
    provider_id: STRING,
    name: STRING,
    client_id: STRING,
    auth_url: STRING,
    token_url: STRING,
    uses_pkce: BOOLEAN,
    code_challenge_method: NULLABLE_STRING,
    provider_type: PROVIDER_TYPE,
    token_endpoint_auth_method: CLIENT_AUTH,
    mcp_server_url: NULLABLE_STRING,
    is_dynamic_client: BOOLEAN,
    authorization_params: PARAMETERS,
    allowed_redirect_uris: STRINGS,
    default_redirect_uri: NULLABLE_STRING,
    created_at: TIME,
    updated_at: TIME,
  },
  required: [
    'id',
    'organization_id',
    'provider_id',
    'name',
    'client_id',
    'auth_url',
    'token_url',
    'uses_pkce',
    'code_challenge_method',
    'provider_type',
    'token_endpoint_auth_method',
    'mcp_server_url',
    'is_dynamic_client',
    'created_at',
    'updated_at',
  ],
} as const

export const PROVIDERS = { type: 'array', items: PROVIDER } as const

export const CREATE_PROVIDER = {
  title: 'OAuthProviderCreateRequest',
  type: 'object',
  properties: {
    provider_id: PROVIDER_NAME,
    name: STRING,
    client_id: STRING,
    client_secret: NULLABLE_PASSWORD,
    auth_url: STRING,
    token_url: STRING,
    uses_pkce: FALSE,
    code_challenge_method: { type: 'string', default: 'S256', description: '`S256` or `plain`.' },
    provider_type: PROVIDER_TYPE,
    token_endpoint_auth_method: { ...CLIENT_AUTH, default: 'client_secret_post' },
    authorization_params: /* @__PURE__ */ nullable(PARAMETERS),
    allowed_redirect_uris: NULLABLE_STRINGS,
    default_redirect_uri: NULLABLE_STRING,
  },
  required: ['provider_id', 'name', 'client_id', 'auth_url', 'token_url'],
} as const

export const PATCH_PROVIDER = {
  title: 'OAuthProviderUpdateRequest',
  type: 'object',
  properties: {
    name: NULLABLE_STRING,
    client_id: NULLABLE_STRING,
    client_secret: NULLABLE_PASSWORD,
    auth_url: NULLABLE_STRING,
    token_url: NULLABLE_STRING,
    uses_pkce: /* @__PURE__ */ nullable(BOOLEAN),
    code_challenge_method: NULLABLE_STRING,
    authorization_params: /* @__PURE__ */ nullable(PARAMETERS),
    allowed_redirect_uris: NULLABLE_STRINGS,
    default_redirect_uri: NULLABLE_STRING,
  },
} as const

export const MCP_DISCOVER = {
  title: 'MCPDiscoverRequest',
  type: 'object',
  properties: { provider_id: PROVIDER_NAME, name: STRING, mcp_server_url: STRING },
  required: ['provider_id', 'name', 'mcp_server_url'],
} as const

export const MESSAGE = {
  title: 'MessageResponse',
  type: 'object',
  properties: { message: STRING },
  required: ['message'],
} as const

export const AUTHENTICATE = {
  title: 'AuthenticateRequest',
  type: 'object',
  properties: {
    provider: STRING,
    scopes: STRINGS,
    user_id: NULLABLE_STRING,
    ls_user_id: NULLABLE_STRING,
    agent_id: NULLABLE_STRING,
    token_id: NULLABLE_UUID,
    force_new: FALSE,
    is_default: TRUE,
    use_agent_builder_public_oauth: FALSE,
    redirect_uri: NULLABLE_STRING,
    check_only: FALSE,
  },
  required: ['provider', 'scopes'],
} as const

export const AUTHENTICATED = {
  title: 'AuthenticateResponse',
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['completed', 'pending', 'connection_required', 'token_expired'] },
    url: NULLABLE_STRING,
    auth_id: NULLABLE_STRING,
    token: NULLABLE_STRING,
    user_id: NULLABLE_STRING,
    metadata: /* @__PURE__ */ nullable({ type: 'object' }),
  },
  required: ['status'],
} as const

export const WAITED = {
  title: 'WaitForCompletionResponse',
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['completed', 'pending', 'timeout', 'not_found'] },
    token: NULLABLE_STRING,
    error: /* @__PURE__ */ nullable({ type: 'string', description: 'Why the sign-in failed.' }),
  },
  required: ['status'],
} as const

/** What a provider sends back with the browser. */
export const CALLBACK_QUERY = {
  properties: {
    code: PASSWORD,
    state: STRING,
    iss: STRING,
    error: STRING,
    error_description: STRING,
  },
} as const

export const SETUP_QUERY = {
  properties: { ...CALLBACK_QUERY.properties, setup_action: STRING, installation_id: { type: 'integer' } },
} as const

export const CALLBACK_BODY = {
  title: 'OAuthCallbackRequest',
  type: 'object',
  properties: { code: PASSWORD, state: STRING, iss: NULLABLE_STRING },
  required: ['code', 'state'],
} as const

export const CALLBACK_DONE = {
  title: 'OAuthCallbackResponse',
  type: 'object',
  properties: { status: { type: 'string', const: 'completed' }, provider_id: STRING },
  required: ['status', 'provider_id'],
} as const
