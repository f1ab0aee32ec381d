import type { OAuthClient } from './oauth-client.ts'
import type { ProviderRecord } from './records.ts'
import type { AuthCaller, AuthServiceParts } from './service.ts'

/** What all parts of the auth service share. */
export interface AuthContext extends AuthServiceParts {
  readonly client: OAuthClient
  readonly allowLoopback: boolean
  readonly platformProviders: readonly ProviderRecord[]
  /** The client secrets of the platform's providers, by the key of the provider. */
  readonly platformSecrets: ReadonlyMap<string, string>
  /** Fires when the service is closed. */
  readonly closing: AbortSignal
  readonly mayActFor: (caller: AuthCaller, user: string) => boolean
}
