import type * as z from 'zod/mini'
import type { OnError } from '../../core/http/index.ts'
import type { Store } from '../../storage/index.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { AUTHENTICATE } from '../wire/auth.ts'
import type { Given } from '../wire/common.ts'
import type { OAuthClient } from './oauth-client.ts'
import type { ConnectionRecord, ProviderRecord, TokenRecord } from './records.ts'

/** The caller: the tenant, and the principal in it. Both are null without authentication. */
export interface AuthCaller {
  readonly owner: string | null
  readonly id: string | null
}

/** What the control plane passes to its auth service. */
export interface AuthServiceParts {
  readonly store: Store
  readonly secrets: SecretBox
  readonly onError: OnError
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** What all parts of the auth service share. */
export interface AuthContext extends AuthServiceParts {
  readonly client: OAuthClient
  readonly allowLoopback: boolean
  readonly platformProviders: readonly ProviderRecord[]
  /** The client secrets of platform providers, by provider key. */
  readonly platformSecrets: ReadonlyMap<string, string>
  /** Fires when the service is closed. */
  readonly closing: AbortSignal
  readonly mayActFor: (caller: AuthCaller, user: string) => boolean
}

/** The service for one caller. */
export interface CallerContext extends AuthContext, AuthCaller {
  /** The partition that the tenant's users share. */
  readonly tenant: string
  /** The caller's own partition. */
  readonly partition: string
}

export interface Token {
  readonly record: TokenRecord
  readonly isDefault: boolean
}

export interface Connection {
  readonly record: ConnectionRecord
  readonly token: TokenRecord
}

export type AuthenticateRequest = Given<z.output<typeof AUTHENTICATE>>

export interface Authenticated {
  readonly status: 'completed' | 'pending' | 'connection_required' | 'token_expired'
  /** Where the user signs in, and the id for `wait`. */
  readonly flow?: { readonly url: string; readonly authId: string } | undefined
  readonly token?: UsableToken | undefined
  readonly user: string | null
}

export interface UsableToken {
  readonly record: TokenRecord
  /** The access token. */
  readonly value: string
}

export interface Waited {
  readonly status: 'completed' | 'pending' | 'timeout' | 'not_found'
  /** The access token. */
  readonly token?: string | undefined
  /** Why the sign-in failed. */
  readonly error?: string | undefined
}
