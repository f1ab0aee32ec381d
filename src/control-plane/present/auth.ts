import { methodOf } from '../auth/providers/pkce.ts'
import type { ProviderRecord, TokenEventRecord } from '../auth/records.ts'
import type { Authenticated, Connection, Token } from '../auth/service.ts'
import { isoTime } from './time.ts'

export const presentProvider = (provider: ProviderRecord) => ({
  id: provider.id,
  organization_id: provider.organizationId,
  provider_id: provider.providerId,
  name: provider.name,
  client_id: provider.clientId,
  auth_url: provider.authUrl,
  token_url: provider.tokenUrl,
  uses_pkce: provider.usesPkce,
  code_challenge_method: methodOf(provider),
  provider_type: provider.providerType,
  token_endpoint_auth_method: provider.tokenEndpointAuthMethod,
  mcp_server_url: provider.mcpServerUrl,
  is_dynamic_client: provider.isDynamicClient,
  authorization_params: provider.authorizationParams,
  allowed_redirect_uris: provider.allowedRedirectUris,
  default_redirect_uri: provider.defaultRedirectUri,
  created_at: isoTime(provider.createdAt),
  updated_at: isoTime(provider.updatedAt),
})

export const presentToken = ({ record, isDefault }: Token) => ({
  id: record.id,
  provider_id: record.providerId,
  provider_account_label: record.accountLabel,
  scopes: record.scopes,
  expires_at: expiryOf(record.expiresAt),
  is_default: isDefault,
  created_at: isoTime(record.createdAt),
  updated_at: isoTime(record.updatedAt),
})

export const presentAuthenticated = ({ status, flow, token, user }: Authenticated) => ({
  status,
  url: flow?.url ?? null,
  auth_id: flow?.authId ?? null,
  token: token?.value ?? null,
  user_id: user,
  metadata: token
    ? {
        ...token.record.metadata,
        token_id: token.record.id,
        provider_id: token.record.providerId,
        provider_account_label: token.record.accountLabel,
        scopes: token.record.scopes,
        expires_at: expiryOf(token.record.expiresAt),
      }
    : null,
})

export const presentTokenEvent = (event: TokenEventRecord) => ({
  id: event.id,
  provider_id: event.providerId,
  event_type: event.type,
  created_at: isoTime(event.createdAt),
  agent_id: event.agentId,
  reason: event.reason,
  source: 'control_plane',
  provider_account_label: event.accountLabel,
  scopes: event.scopes,
  detail: event.detail,
  acknowledged_at: null,
})

export const presentConnection = ({ record, token }: Connection) => ({
  id: record.id,
  agent_id: record.agentId,
  oauth_token_id: record.tokenId,
  provider_id: token.providerId,
  provider_account_label: token.accountLabel,
  scopes: token.scopes,
  expires_at: expiryOf(token.expiresAt),
  created_by: record.createdBy,
  created_at: isoTime(record.createdAt),
})

const expiryOf = (at: number | null): string | null => (at === null ? null : isoTime(at))
