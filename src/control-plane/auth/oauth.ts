import { createGuardedFetch } from '../../core/egress/guarded-fetch.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import { completeFlow } from './flows/complete.ts'
import { type AuthService, methodsOf } from './methods.ts'
import { createOAuthClient } from './oauth-client.ts'
import { PLATFORM_PROVIDER, type PlatformProvider, platformProvider } from './providers/platform.ts'
import type { AuthCaller, AuthContext, AuthServiceParts } from './service.ts'
import type { TokenVault } from './token-vault.ts'

export type { ClientAuthMethod, ProviderType } from './records.ts'
export type { AuthCaller } from './service.ts'
export type { PlatformProvider, TokenVault }

export interface TokenVaultOptions {
  /**
   * The control plane's URL for clients and browsers, with its prefix, such as
   * `https://control.example.com/api-host`. Providers redirect users to it. Default: the URL of the request,
   * which is wrong behind a proxy that terminates TLS.
   */
  readonly publicUrl?: string | undefined
  /**
   * Where the browser goes after a sign-in, with `provider_id`, `status` (`completed` or `failed`) and
   * `error`. Default: a page of the control plane.
   */
  readonly returnUrl?: string | undefined
  /**
   * Providers for all tenants, listed by `GET /v2/auth/platform-providers`. A tenant's own provider with the
   * same id takes precedence.
   */
  readonly platformProviders?: readonly PlatformProvider[] | undefined
  /**
   * Whether a principal may access tokens of another user in its tenant, by `user_id` or `ls_user_id`, for
   * example a backend for its users. Default: no. Without `authenticate`, all callers may.
   */
  readonly mayActFor?: ((caller: AuthCaller, userId: string) => boolean) | undefined
  /** Allows providers on this machine over plain HTTP, for tests and local use. Default false. */
  readonly allowLoopback?: boolean | undefined
}

const VAULT_OPTIONS: OptionTable<TokenVaultOptions> = {
  publicUrl: 'string',
  returnUrl: 'string',
  platformProviders: { '*': PLATFORM_PROVIDER },
  mayActFor: 'function',
  allowLoopback: 'boolean',
}

/** How much of a provider's response is read, in bytes. */
const MAX_ANSWER_BYTES = 262_144

/**
 * Stores users' tokens for other services: users sign in there, and their agents receive the tokens. Pass it
 * as the option `tokenVault` of `createControlPlaneHandler`, for the routes below `/v2/auth`. Needs the
 * package `oauth4webapi`.
 */
export function tokenVault(options: TokenVaultOptions = {}): TokenVault {
  checkOptions('tokenVault', options, VAULT_OPTIONS)
  const { allowLoopback = false, mayActFor = () => false, platformProviders = [] } = options
  const open = (parts: AuthServiceParts): AuthService => {
    const closing = new AbortController()
    const platform = platformProviders.map((given) => platformProvider(given, allowLoopback))
    const context: AuthContext = {
      ...parts,
      client: createOAuthClient(createGuardedFetch({ allowLoopback, maxResponseBytes: MAX_ANSWER_BYTES })),
      allowLoopback,
      mayActFor,
      platformProviders: platform.map(({ record }) => record),
      platformSecrets: new Map(
        platform.flatMap(({ record, secret }) => (secret ? [[record.id, secret]] : [])),
      ),
      closing: closing.signal,
    }
    return {
      publicUrl: options.publicUrl?.replace(/(?<!\/)\/+$/, ''),
      returnUrl: options.returnUrl,
      platformProviders: context.platformProviders,
      of: (caller) => methodsOf(context, caller),
      complete: (caller, providerId, answer) => completeFlow(context, caller, providerId, answer),
      async close() {
        closing.abort()
      },
    }
  }
  return { open }
}
