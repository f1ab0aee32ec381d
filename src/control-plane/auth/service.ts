import type { OnError } from '../../http/index.ts'
import type { Json, Store } from '../../storage/index.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type {
  ChallengeMethod,
  ClientAuthMethod,
  ConnectionRecord,
  FlowRecord,
  ProviderRecord,
  ProviderType,
  TokenEventRecord,
  TokenRecord,
} from './records.ts'

/** Who calls: the tenant, and the principal in it. Both are null without authentication. */
export interface AuthCaller {
  readonly owner: string | null
  readonly id: string | null
}

/** What the operations of the auth service need. What it refuses, it throws as `HttpError`. */
export interface AuthService {
  /** Where the browser goes after a sign-in. Undefined: it is shown a page. */
  readonly returnUrl: string | undefined
  /** Where clients reach this control plane. Undefined: where the request was sent to. */
  readonly publicUrl: string | undefined

  listProviders(owner: string | null): Promise<readonly ProviderRecord[]>
  findProvider(owner: string | null, providerId: string): Promise<ProviderRecord>
  createProvider(owner: string | null, given: NewProvider): Promise<ProviderRecord>
  changeProvider(owner: string | null, providerId: string, change: ProviderChange): Promise<ProviderRecord>
  /** Removes the tokens of all users for it, too. */
  removeProvider(owner: string | null, providerId: string): Promise<void>
  /** Registers a client at the authorization server of an MCP server. `baseUrl`: where this control plane is reached. */
  discoverProvider(owner: string | null, given: McpServer, baseUrl: string): Promise<ProviderRecord>
  readonly platformProviders: readonly ProviderRecord[]

  /** Gives a token, or begins a sign-in. */
  authenticate(caller: AuthCaller, request: AuthenticateRequest, baseUrl: string): Promise<Authenticated>
  /** Waits until a sign-in is over. */
  wait(
    caller: AuthCaller,
    authId: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Waited>
  /** Ends a sign-in with what the provider has sent. `caller` is undefined where nobody can say who it is. */
  complete(caller: AuthCaller | undefined, providerId: string, answer: ProviderAnswer): Promise<FlowRecord>

  listTokens(caller: AuthCaller, providerId: string | undefined): Promise<readonly Token[]>
  /** Undefined leaves a value as it is. */
  changeToken(caller: AuthCaller, tokenId: string, change: TokenChange): Promise<Token>
  /** Tells the provider first. */
  removeToken(caller: AuthCaller, tokenId: string): Promise<void>
  /** How many there were. */
  removeTokens(caller: AuthCaller, providerId: string): Promise<number>
  /** Gives the id of the token. */
  importToken(caller: AuthCaller, given: ImportedToken): Promise<string>
  /** Those of the providers that the caller has a token for. */
  providersWithToken(caller: AuthCaller, providerIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether the tenant has a token of its Slack workspace. */
  hasWorkspaceToken(owner: string | null): Promise<boolean>
  removeWorkspaceToken(owner: string | null): Promise<void>
  /** Newest first. */
  listEvents(
    caller: AuthCaller,
    providerId: string | undefined,
    limit: number,
  ): Promise<readonly TokenEventRecord[]>

  listConnections(caller: AuthCaller, agentId: string): Promise<readonly Connection[]>
  connect(caller: AuthCaller, agentId: string, tokenId: string): Promise<Connection>
  disconnect(caller: AuthCaller, agentId: string, connectionId: string): Promise<void>

  /** Ends its long polls. */
  close(): Promise<void>
}

/** What the control plane gives to its auth service. */
export interface AuthServiceParts {
  readonly store: Store
  readonly secrets: SecretBox
  readonly onError: OnError
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Makes the auth service of a control plane: the option `oauth`. */
export type CreateAuthService = (parts: AuthServiceParts) => AuthService

export interface Token {
  readonly record: TokenRecord
  readonly isDefault: boolean
}

export interface Connection {
  readonly record: ConnectionRecord
  readonly token: TokenRecord
}

/** A provider as it is created. */
export interface NewProvider {
  readonly providerId: string
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly authUrl: string
  readonly tokenUrl: string
  readonly usesPkce: boolean
  readonly codeChallengeMethod?: ChallengeMethod | undefined
  readonly providerType: ProviderType | null
  readonly tokenEndpointAuthMethod: ClientAuthMethod
  readonly authorizationParams: Readonly<Record<string, string>>
  readonly allowedRedirectUris: readonly string[]
  readonly defaultRedirectUri: string | null
}

/** What a provider may change. Undefined leaves a value as it is. */
export type ProviderChange = {
  readonly [Name in Exclude<keyof NewProvider, 'providerId' | 'providerType' | 'tokenEndpointAuthMethod'>]?:
    | NonNullable<NewProvider[Name]>
    | undefined
}

export interface McpServer {
  readonly providerId: string
  readonly name: string
  readonly mcpServerUrl: string
}

export interface AuthenticateRequest {
  readonly provider: string
  readonly scopes: readonly string[]
  /** Undefined: the caller itself. */
  readonly user: string | undefined
  readonly agentId: string | undefined
  readonly tokenId: string | undefined
  /** Signs in once more, beside the tokens that are there. */
  readonly forceNew: boolean
  readonly isDefault: boolean
  /** Takes the provider of the platform, also where the tenant has one of the same id. */
  readonly isPlatform: boolean
  readonly redirectUri: string | undefined
  /** Begins no sign-in, and gives no token. */
  readonly checkOnly: boolean
}

export interface Authenticated {
  readonly status: 'completed' | 'pending' | 'connection_required' | 'token_expired'
  /** Where the user signs in, and what `wait` takes. */
  readonly flow?: { readonly url: string; readonly authId: string } | undefined
  readonly token?: { readonly record: TokenRecord; readonly value: string } | undefined
  readonly user: string | null
}

export interface Waited {
  readonly status: 'completed' | 'pending' | 'timeout' | 'not_found'
  /** The access token. */
  readonly token?: string | undefined
  /** Why the sign-in failed. */
  readonly error?: string | undefined
}

/** The parameters that a provider sends back. */
export interface ProviderAnswer {
  readonly code?: string | undefined
  readonly state?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
}

export interface TokenChange {
  readonly accountLabel?: string | undefined
  readonly isDefault?: boolean | undefined
}

export interface ImportedToken {
  readonly providerId: string
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly expiresInSeconds: number | undefined
  readonly scopes: readonly string[]
  readonly metadata: { readonly [key: string]: Json | undefined } | null
  readonly isDefault: boolean
}
