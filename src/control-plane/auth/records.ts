import { uuid7, uuidOf } from '../../core/ids.ts'
import type { Guard, Json, Op, Store } from '../../storage/index.ts'
import { listAll } from '../../storage/store/pages.ts'
import { unchanged as docUnchanged, load, put, type Stored, stored } from '../records/docs.ts'
import type { SealedSecret } from '../records/records.ts'

/** How a client authenticates at the token endpoint. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post'

/** How a code is bound to its verifier (RFC 7636 §4.2). `plain` is for providers without S256. */
type ChallengeMethod = 'S256' | 'plain'

/** Providers that deviate from OAuth 2.0. */
export type ProviderType = 'microsoft' | 'salesforce' | 'slack'

/** An OAuth client at an authorization server, registered by the tenant. */
export interface ProviderRecord {
  /** A UUID. A provider that is created again with the same `providerId` has another one. */
  readonly id: string
  /** Null for a provider of the platform. */
  readonly organizationId: string | null
  /** The name in URLs, which the tenant chooses. */
  readonly providerId: string
  readonly name: string
  readonly clientId: string
  /** `client_secret`. Empty for a public client. */
  readonly secrets: readonly SealedSecret[]
  readonly authUrl: string
  readonly tokenUrl: string
  /** RFC 7009. Null: looked up in the server's metadata when needed. */
  readonly revocationUrl: string | null
  /** Null if the server's metadata was not read. */
  readonly issuer: string | null
  /** Whether the server always sends `iss` in its responses (RFC 9207). */
  readonly sendsIssuer: boolean
  /** RFC 8707: what the tokens are for. */
  readonly resource: string | null
  readonly usesPkce: boolean
  /** Default `S256`. */
  readonly codeChallengeMethod?: ChallengeMethod | undefined
  readonly providerType: ProviderType | null
  readonly tokenEndpointAuthMethod: ClientAuthMethod
  readonly mcpServerUrl: string | null
  /** Registered by `mcp-discover`. */
  readonly isDynamicClient: boolean
  /** Further parameters of the authorization request. */
  readonly authorizationParams: Readonly<Record<string, string>>
  readonly allowedRedirectUris: readonly string[]
  readonly defaultRedirectUri: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** The defaults for fields that are neither given nor in the provider's metadata. */
export const PROVIDER_DEFAULTS = {
  secrets: [],
  revocationUrl: null,
  issuer: null,
  sendsIssuer: false,
  resource: null,
  providerType: null,
  mcpServerUrl: null,
  isDynamicClient: false,
  authorizationParams: {},
  allowedRedirectUris: [],
  defaultRedirectUri: null,
} as const satisfies Partial<ProviderRecord>

/** A user's token for one provider. Another document records whether it is the default. */
export interface TokenRecord {
  readonly id: string
  readonly providerId: string
  /** The `id` of its provider. */
  readonly providerKey: string
  readonly accountLabel: string | null
  /** The scopes that the provider has granted. */
  readonly scopes: readonly string[]
  /** The requested scopes: providers may grant them under other names. */
  readonly requestedScopes: readonly string[]
  /** Milliseconds since 1970. Null: unknown. */
  readonly expiresAt: number | null
  /** `access_token`, and `refresh_token` if there is one. */
  readonly secrets: readonly SealedSecret[]
  /** A digest of the endpoints that issued it. Only these may receive its refresh token. */
  readonly endpoints: string
  /** An instance is refreshing it until this time at the latest. Milliseconds since 1970. */
  readonly refreshingUntil?: number | undefined
  readonly metadata: { readonly [key: string]: Json | undefined } | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A sign-in that was started. It is used once. */
export interface FlowRecord {
  readonly id: string
  /** The tenant. */
  readonly owner: string | null
  readonly providerId: string
  readonly providerKey: string
  /** Whether the provider is one of the platform's. */
  readonly isPlatform: boolean
  /** The id of the principal that started it. */
  readonly startedBy: string | null
  /** The user who gets the token. */
  readonly user: string | null
  readonly agentId: string | null
  readonly scopes: readonly string[]
  readonly redirectUri: string
  /** A digest of the endpoints that it was started with. */
  readonly endpoints: string
  /** `code_verifier`. Empty without PKCE. */
  readonly secrets: readonly SealedSecret[]
  readonly isDefault: boolean
  /** The token to renew. */
  readonly replaces: string | null
  readonly status: 'pending' | 'exchanging' | 'completed' | 'failed'
  /** Why it failed: an OAuth code, such as `access_denied`. */
  readonly error?: string | undefined
  readonly tokenId?: string | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Lets an agent use a token of a user. */
export interface ConnectionRecord {
  readonly id: string
  readonly agentId: string
  readonly tokenId: string
  /** The id of the principal. */
  readonly createdBy: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

type TokenEventType =
  | 'token_created'
  | 'token_imported'
  | 'token_refreshed'
  | 'token_refresh_failed'
  | 'token_deleted'
  | 'token_revocation_failed'
  | 'authorization_failed'

export interface TokenEventRecord {
  readonly id: string
  readonly type: TokenEventType
  readonly providerId: string
  readonly agentId: string | null
  readonly accountLabel: string | null
  readonly scopes: readonly string[]
  /** A code, such as `invalid_grant`. */
  readonly reason: string | null
  /** For people to read. */
  readonly detail: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** A partition has everything of one user of a tenant, or everything that all users of the tenant share. */
export const PROVIDERS = 'oauth-providers'
export const WORKSPACE_TOKENS = 'oauth-workspace-tokens'
export const TOKENS = 'oauth-tokens'
/** The default token's id by provider key: one document, so there is only one default. */
export const DEFAULTS = 'oauth-defaults'
export const FLOWS = 'oauth-flows'
export const CONNECTIONS = 'oauth-connections'
export const EVENTS = 'oauth-events'

/** A user's key in partition names and flow ids. It reveals neither the tenant nor the user. */
export const userKeyOf = (owner: string | null, user: string | null): Promise<string> =>
  uuidOf(['oauth-user', owner, user])

export const userPartition = (userKey: string): string => `oauth-user:${userKey}`

export const tenantPartition = async (owner: string | null): Promise<string> =>
  `oauth-tenant:${await uuidOf(['oauth-tenant', owner])}`

export { load, put, type Stored }

/** All documents of a partition. */
export const loadAll = async <T>(
  store: Store,
  collection: string,
  query: { readonly partition: string },
): Promise<readonly Stored<T>[]> => (await listAll(store, collection, query)).map((doc) => stored<T>(doc))

export const unchanged = (collection: string, read: Stored<{ readonly id: string }>): Guard =>
  docUnchanged(collection, read.record.id, read)

/** How long events are kept, in milliseconds: 90 days. */
const KEPT_MS = 90 * 86_400_000

export interface EventDetails {
  readonly agentId?: string | null | undefined
  readonly reason?: string | undefined
  readonly detail?: string | undefined
}

/** The op that writes an event, for the commit of the change. */
export function eventOp(
  about: Pick<TokenRecord, 'providerId' | 'scopes'> & Partial<Pick<TokenRecord, 'accountLabel'>>,
  type: TokenEventType,
  at: number,
  { agentId = null, reason, detail }: EventDetails = {},
): Op {
  const record: TokenEventRecord = {
    id: uuid7(at),
    type,
    providerId: about.providerId,
    agentId,
    accountLabel: about.accountLabel ?? null,
    scopes: about.scopes,
    reason: reason ?? null,
    detail: detail ?? null,
    createdAt: at,
  }
  return put(EVENTS, record.id, record, { index: { at, provider: record.providerId }, ttlMs: KEPT_MS })
}
